import Foundation
import KalijAddress
import KalijClient
import Testing

/// The README's example is what is compiled here, word for word.
@Suite struct ReadmeTests {
    // snippet
    static func echo() throws {
        var engine: Engine?
        engine = try Engine(AccountDirectory("/var/lib/echo")) { event in
            guard case .message(let message) = event.kind, message.direction == .incoming else { return }
            _ = try? engine?.accept("You said: \(message.body ?? "nothing")", to: JID.received(message.from))
        }
        try engine?.run()
    }
    // end

    @Test("the README's example is the one that compiles")
    func sameExample() throws {
        let here = URL(fileURLWithPath: #filePath)
        let root = here.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let source = try String(contentsOf: here, encoding: .utf8)
        let readme = try String(contentsOf: root.appendingPathComponent("README.md"), encoding: .utf8)
        let body = try #require(source.components(separatedBy: "static func echo() throws {\n").last)
            .components(separatedBy: "    }\n    // end").first
        let lines = try #require(body).split(separator: "\n").map { $0.dropFirst(8) }
        #expect(readme.contains(lines.joined(separator: "\n")))
    }
}
