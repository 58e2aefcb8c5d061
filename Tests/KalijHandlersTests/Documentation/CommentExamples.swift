// swift-format-ignore-file
// Made by Scripts/documentation-examples from the documentation. Change that, and run it again.
import FoundationEssentials
import KalijAddress
import KalijClient
import KalijHandlers
import KalijStore
import KalijXML
import Testing

// Compiled, not run.
private struct CommentExamples {
    private func comment1(log: Log) async throws {
#sourceLocation(file: "Sources/KalijHandlers/Handler/Handler.swift", line: 7)
struct Greeted: Handler {
    static let name = "example.greeted"
    var language: String
    func call(_ answer: String, in log: Log) { log.lines.append("\(answer) (\(language))") }
}
#sourceLocation()
    }

}
