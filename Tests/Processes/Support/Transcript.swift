import Foundation
import KalijLab
import Testing

/// The commands of a test and what they have printed, as a terminal would show them.
final class Transcript {
    private let kalij: Kalij
    private var text = ""
    private var names: [(String, String)] = []

    init(_ kalij: Kalij) { self.kalij = kalij }

    /// From now on, and in what is there, a word by chance is written as a name.
    func call(_ word: String, _ name: String) { names.append((word, name)) }

    /// Runs a command, which has to succeed.
    /// - Returns: what the command has printed.
    @discardableResult
    func run(_ words: String..., sourceLocation: SourceLocation = #_sourceLocation) throws -> String {
        let outcome = try kalij.run(words)
        #expect(outcome.status == 0, "\(words): \(outcome.errors)", sourceLocation: sourceLocation)
        let quoted = words.map { $0.contains(where: { " !?".contains($0) }) ? "'\($0)'" : $0 }
        text += "$ kalij \(quoted.joined(separator: " "))\n\(outcome.output)\(outcome.errors)"
        return outcome.output
    }

    /// Compares with the first block of a document; `KALIJ_WRITE=1` writes there instead. Times may differ.
    func compare(with path: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let document = try String(contentsOfFile: path, encoding: .utf8)
        let parts = document.components(separatedBy: "```\n")
        try #require(parts.count >= 3, "\(path) has a block", sourceLocation: sourceLocation)
        let shown = names.reduce(text) { $0.replacingOccurrences(of: $1.0, with: $1.1) }
        if ProcessInfo.processInfo.environment["KALIJ_WRITE"] != nil {
            let written = [parts[0], shown] + parts[2...]
            try written.joined(separator: "```\n").write(toFile: path, atomically: true, encoding: .utf8)
        } else {
            #expect(Self.withoutTimes(parts[1]) == Self.withoutTimes(shown), sourceLocation: sourceLocation)
        }
    }

    private static func withoutTimes(_ text: String) -> String {
        text.replacing(/--- [A-Z][a-z]+day, \d{4}-\d\d-\d\d/, with: "DAY")
            .replacing(/(\d{4}-\d\d-\d\d )?\b\d\d:\d\d:\d\d/, with: "TIME")
    }
}
