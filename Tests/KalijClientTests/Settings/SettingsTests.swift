import KalijAddress
import KalijStore
import KalijXML
import Testing

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// The user's choices for an account and a conversation.
struct SettingsTests {
    private typealias R = ReadingHarness

    private func change(_ r: ReadingHarness, for jid: String? = nil, _ body: (inout ChangeSettings) -> Void) throws {
        var change = ChangeSettings(for: try jid.map { try JID($0) })
        body(&change)
        #expect(try r.harness.perform { try Intents(step: $0).perform(change, id: OutgoingID(nil).text) } == .done)
    }

    private func receipts(_ r: ReadingHarness) throws -> Int {
        try r.harness.write().filter { try Element.parse($0.stanza).child("received", "urn:xmpp:receipts") != nil }
            .count
    }

    @Test("receipts, markers and states are off for all conversations, except for one")
    func disclosures() throws {
        let r = try R()
        try r.harness.subscribe("nurse@example.net")
        try change(r) { ($0.receipts, $0.markers, $0.typing) = (false, false, false) }
        try change(r, for: "nurse@example.net/phone") { ($0.receipts, $0.markers) = (true, true) }
        for contact in [R.romeo, "nurse@example.net"] {
            try r.harness.receive(
                R.message("m", from: contact, stamped: false).replacing(
                    "</message>",
                    with:
                        "<request xmlns='urn:xmpp:receipts'/><active xmlns='http://jabber.org/protocol/chatstates'/></message>"
                ))
            try r.read(contact)
            try r.harness.perform {
                _ = try Intents(step: $0).perform(SetTyping(.composing, to: try JID(contact)), id: "t" + contact)
            }
        }
        #expect(try r.markers() == ["nurse@example.net m"])
        #expect(try receipts(r) == 1)
        try r.harness.accept("Hi")
        #expect(
            try r.harness.write().allSatisfy {
                !(try Element.parse($0.stanza)).children.contains {
                    $0.namespace == "http://jabber.org/protocol/chatstates"
                }
            })
        #expect(try r.unread() == 0, "the place moves all the same")
    }

    @Test("`notify`: none, a time, and all again; the conversation's choice comes before the account's")
    func notify() throws {
        let r = try R(notifies: true)
        func notified(_ id: String) throws -> Bool {
            let before = try r.harness.number("SELECT count(*) FROM notification")
            try r.harness.receive(R.message(id))
            return try r.harness.number("SELECT count(*) FROM notification") != before
        }
        #expect(try notified("1"))
        try change(r) { $0.notify = "none" }
        #expect(try !notified("2"))
        #expect(try r.unread() == 2, "what does not notify is still unread")
        try change(r, for: R.romeo) { $0.notify = "mentions" }
        #expect(try notified("3"), "in a chat of two every message is meant")
        try change(r, for: R.romeo) { $0.notify = "2026-11-21T13:00:00Z" }
        #expect(try !notified("4"))
        r.harness.clock.move(by: 3_600_000)
        #expect(try notified("5"), "the time is over")
        try change(r, for: R.romeo) { $0.notify = "2026-11-22T13:00:00Z" }
        try change(r, for: R.romeo) { $0.notify = "all" }
        #expect(try notified("6"))
    }

    @Test("what cannot be meant is refused", arguments: ["", "yes", "2026-11-21", "all "])
    func wrong(_ notify: String) throws {
        var change = ChangeSettings()
        change.notify = notify
        #expect(throws: IntentFailure.self) { try change.check() }
        change.notify = nil
        change.conversation = "@@"
        #expect(throws: (any Error).self) { try change.check() }
    }
}
