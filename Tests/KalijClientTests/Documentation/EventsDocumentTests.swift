import Foundation
import KalijClient
import Testing

@testable import KalijFeatures
@testable import KalijCore

/// `Documentation/Events.md` is made from the types of events, by `KALIJ_WRITE=1 swift test --filter
/// EventsDocumentTests`.
struct EventsDocumentTests {
    private static let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Documentation/Events.md").path

    private var events: [any EventContent.Type] { Features.passive.events.sorted { $0.name < $1.name } }

    private func text() -> String {
        let rows = events.map { event in
            "| `\(event.name)` | \(event.meaning) | \(event.keys.map { "`\($0.name)`" }.joined(separator: ", ")) |"
        }
        let keys = Set(events.flatMap { $0.keys }).sorted { $0.name < $1.name }
        let withCondition: Set<Reason.Code> = [.stanzaError, .streamError, .other]
        let codes = Reason.Code.allCases.filter { !withCondition.contains($0) }
            .map { "| `\($0.rawValue)` | \($0.english == "{0}" ? "the words say more" : $0.english) |" }
        return """
            # Events

            `kalij run --json`, `wake --json` and others print one JSON object a line. Each has `event`, `account` (the account's bare
            address) and `at` (an XEP-0082 date-time in UTC). Events about messages have a `number` besides, by which a program goes on
            after the last one that it has dealt with (`kalij run --json --since N`). What is not known or does not apply is left out.
            Programs ignore events and keys that they do not know. This page is made from the code (`EventsDocumentTests`).

            | event | told when | keys |
            |---|---|---|
            \(rows.joined(separator: "\n"))

            Each key means the same in all events:

            | key | |
            |---|---|
            \(keys.map { "| `\($0.name)` | \($0.meaning) |" }.joined(separator: "\n"))

            `error_code` and `reason_code` are the condition of an error that a server or the other side has sent (RFC 6120 sections 4.9.3 and
            8.3.3), such as `remote-server-not-found`, or one of these; `error` and `reason` have the words, in which a value stands at each
            place in braces:

            | code | words |
            |---|---|
            \(codes.joined(separator: "\n"))

            """
    }

    @Test("the page lists all events and keys")
    func page() throws {
        if ProcessInfo.processInfo.environment["KALIJ_WRITE"] != nil {
            try text().write(toFile: Self.path, atomically: true, encoding: .utf8)
        }
        #expect(try String(contentsOfFile: Self.path, encoding: .utf8) == text())
    }

    @Test("no two events have the same name, and no key has two meanings")
    func unique() {
        #expect(Set(events.map { $0.name }).count == events.count)
        let keys = Set(events.flatMap { $0.keys })
        #expect(Set(keys.map(\.name)).count == keys.count)
        #expect(keys.isDisjoint(with: [EventKey("event", ""), EventKey("account", ""), EventKey("number", "")]))
    }
}
