import Foundation
import KalijAddress
import KalijXML
import TestSupport
import Testing

@testable import KalijEngine
@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// A text that was not sent is sent again: the same message, in its place, once.
struct ResendTests {
    private func refuse(_ id: String?, _ harness: StepHarness) throws {
        try harness.receive(
            """
            <message type='error' id='\(try #require(id))' from='romeo@example.net'><error type='cancel'>\
            <service-unavailable xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></message>
            """)
    }

    private func failed(_ harness: StepHarness, _ body: String = "one") throws -> Message {
        let message = try harness.accept(body)
        try harness.acknowledgeAll()
        try refuse(message.originID, harness)
        return message
    }

    @Test(
        "a failed message is sent again under its id and keeps its row, place and time; a second request sends nothing")
    func again() throws {
        let harness = try StepHarness.caughtUp()
        let message = try failed(harness)
        let place = try harness.number("SELECT position FROM message WHERE id = \(message.id)")
        try harness.accept("two")
        try harness.acknowledgeAll()
        harness.clock.move(by: 60_000)
        try harness.want(Resend(.row(message.id)), id: "a")
        #expect(try harness.outcome("a") == .done)
        let stanza = try Element.parse(try #require(try harness.write().last).stanza)
        #expect(stanza["id"] == message.originID && stanza.child("body")?.text == "one")
        #expect(stanza.child("origin-id", "urn:xmpp:sid:0")?["id"] == message.originID)
        try harness.want(Resend(.row(message.id)), id: "b")
        #expect(try harness.outcome("b") == .failed("the message is on its way, or has arrived"))
        #expect(try harness.queue().count == 1)
        try harness.acknowledgeAll()
        #expect(try harness.history() == ["out one (acked)", "out two (acked)"])
        #expect(try harness.number("SELECT position FROM message WHERE id = \(message.id)") == place)
        #expect(try harness.number("SELECT count(*) FROM message WHERE error IS NOT NULL") == 0)
        try harness.want(Resend(.row(message.id)), id: "c")
        #expect(try harness.outcome("c") == .failed("the message is on its way, or has arrived"))
    }

    @Test("the archive's copy of the refused sending does not settle the second one")
    func refusedCopy() throws {
        let harness = try StepHarness.caughtUp()
        let message = try failed(harness)
        try harness.want(Resend(.row(message.id)), id: "a")
        let id = try #require(message.originID)
        let copy = """
            <message from='juliet@example.org/balcony' to='romeo@example.net' type='chat' id='\(id)'><body>one</body>\
            <origin-id xmlns='urn:xmpp:sid:0' id='\(id)'/></message>
            """
        _ = try harness.steps.readArchive()
        try harness.receive(try harness.archived("a1", copy))
        #expect(try harness.history() == ["out one (queued)"])
        try harness.receive(try harness.archived("a1", copy))
        #expect(try harness.history() == ["out one (queued)"], "the same copy, read once more")
        try harness.receive(try harness.archived("a2", copy))
        #expect(try harness.history() == ["out one (acked)"])
    }

    @Test("a text that was refused, not acknowledged, and is sent again leaves once over the next connection")
    func unacknowledged() throws {
        let harness = try StepHarness.caughtUp()
        let message = try harness.accept("one")
        try harness.write()
        try refuse(message.originID, harness)
        try harness.want(Resend(.row(message.id)), id: "a")
        #expect(try harness.queue() == ["message chat one", "message chat one"])
        _ = try harness.steps.resumed(try harness.steps.load().acknowledged)
        try harness.answerPage(complete: true)
        #expect(try harness.queue().filter { $0.hasPrefix("message") } == ["message chat one"])
    }

    @Test("a text that was refused again and again is settled by the copy after them, however often they are read")
    func refusedAgain() throws {
        let harness = try StepHarness.caughtUp()
        let message = try failed(harness)
        let copy = try harness.copy(of: "one")
        try harness.want(Resend(.row(message.id)), id: "a")
        try harness.acknowledgeAll()
        try refuse(message.originID, harness)
        _ = try harness.steps.readArchive()
        try harness.receive(try harness.archived("a1", copy))
        try harness.want(Resend(.row(message.id)), id: "b")
        try harness.write()
        for id in ["a1", "a2", "a1", "a2"] { try harness.receive(try harness.archived(id, copy)) }
        #expect(try harness.history() == ["out one (sent)"])
        for id in ["a3", "a1"] { try harness.receive(try harness.archived(id, copy)) }
        #expect(try harness.history() == ["out one (acked)"])
        try refuse(message.originID, harness)
        try harness.want(Resend(.row(message.id)), id: "c")
        try harness.write()
        try harness.receive(try harness.archived("a3", copy))
        #expect(try harness.history() == ["out one (sent)"])
        try harness.receive(try harness.archived("a4", copy))
        #expect(try harness.history() == ["out one (acked)"])
    }

    @Test("a reply is sent again as a reply, with the quote if the answered message is still there")
    func reply() throws {
        let harness = try StepHarness.caughtUp()
        try harness.receive("<message from='romeo@example.net/x' type='chat' id='q'><body>But soft</body></message>")
        let asked = try #require(try harness.number("SELECT id FROM message WHERE message_id = 'q'"))
        try harness.perform { step in
            _ = try step.accept(
                "What light", to: try JID("romeo@example.net"), id: "r",
                answering: try Message.load(asked, from: step.database))
        }
        try harness.acknowledgeAll()
        for isThere in [true, false] {
            try refuse("r", harness)
            if !isThere { try harness.want(Forget(.row(asked)), id: "forget") }
            try harness.want(Resend(.id("r")), id: "again \(isThere)")
            let stanza = try Element.parse(try #require(try harness.write().last).stanza)
            #expect(stanza.child("reply", "urn:xmpp:reply:0")?["id"] == "q")
            #expect(stanza.child("body")?.text == (isThere ? "> But soft\nWhat light" : "What light"))
            #expect((stanza.child("fallback", "urn:xmpp:fallback:0") != nil) == isThere)
            try harness.acknowledgeAll()
        }
    }

    @Test("a message of unknown outcome is sent again, and is settled by the server")
    func unknown() throws {
        let harness = try StepHarness.online(resumeID: nil)
        let message = try harness.accept("one")
        _ = try harness.queueSteps.transmitted(try harness.write())
        _ = try harness.steps.bound(harness.account.jid)
        #expect(try harness.history() == ["out one (sent) unsettled"])
        try harness.want(Resend(.row(message.id)), id: "a")
        #expect(try harness.history() == ["out one (queued)"])
        #expect(try harness.queue().count == 1)
    }

    @Test("what is not the user's, is gone, on its way, of another device, or has a file is refused")
    func refused() throws {
        let harness = try StepHarness.caughtUp()
        try harness.receive("<message from='romeo@example.net/x' type='chat' id='q'><body>hers</body></message>")
        let waiting = try harness.accept("waiting")
        let forgotten = try failed(harness, "forgotten")
        try harness.want(Forget(.row(forgotten.id)), id: "f")
        let file = try failed(harness, "https://example.org/balcony.jpg")
        try harness.database.run(
            """
            INSERT INTO attachment(message, account, url, state, automatic)
            VALUES (?, ?, 'https://example.org/balcony.jpg', 'stored', 0)
            """, [.integer(file.id), .integer(harness.account.id)])
        for (id, reference, reason) in [
            ("a", MessageReference.id("q"), "the message is somebody else's"),
            ("b", .row(waiting.id), "the message is on its way, or has arrived"),
            ("c", .row(forgotten.id), "the message is gone"),
            ("d", .row(file.id), "the message has a file, which is sent again by its upload: `kalij uploads retry`"),
            ("e", .row(999), "there is no such message"),
        ] {
            try harness.want(Resend(reference), id: id)
            #expect(try harness.outcome(id) == .failed(reason))
        }
        #expect(try harness.queue().isEmpty)
    }

    @Test("a message to a room is sent again while the account is in the room, and fails again without it")
    func room() throws {
        let room = try RoomHarness.joined()
        try room.accept("one")
        try room.send()
        try room.refuse(message: "one", "policy-violation")
        #expect(try room.harness.history().suffix(1) == ["out one (failed)"])
        let row = try #require(try room.harness.number("SELECT id FROM message WHERE body = 'one'"))
        #expect(try room.perform(Resend(.row(row)), id: "a") == .done)
        #expect(try room.queued() == ["one"])
        try room.send()
        try room.refuse(message: "one", "policy-violation")
        try room.perform(LeaveRoom(try JID(RoomHarness.room)), id: "leave")
        guard case .failed(let reason) = try room.perform(Resend(.row(row)), id: "b") else {
            return #expect(Bool(false), "not failed")
        }
        #expect(reason.hasPrefix("you have left the room"))
        #expect(try room.harness.history().suffix(1) == ["out one (failed)"])
    }

    @Test("a text that was encrypted is never sent again in plain, even if the conversation is plain by now")
    func encrypted() throws {
        let harness = try StepHarness.caughtUp()
        let message = try failed(harness)
        try harness.database.run(
            "UPDATE message SET encryption = ? WHERE id = ?",
            [.text(MessageEncryption("eu.siacs.conversations.axolotl").stored), .integer(message.id)])
        try harness.want(Resend(.row(message.id)), id: "a")
        #expect(try harness.number("SELECT count(*) FROM omemo_waiting WHERE plain = 0") == 1)
        #expect(try harness.queue().isEmpty)
    }

    @Test("the user's decision sends a text without encryption that was to be encrypted")
    func plain() throws {
        let harness = try StepHarness.caughtUp()
        let message = try failed(harness)
        try harness.database.run(
            "UPDATE message SET encryption = ? WHERE id = ?",
            [.text(MessageEncryption("eu.siacs.conversations.axolotl").stored), .integer(message.id)])
        try harness.want(Resend(.row(message.id), isPlain: true), id: "a")
        #expect(try harness.outcome("a") == .done)
        #expect(try harness.number("SELECT count(*) FROM omemo_waiting") == 0)
        let stanza = try Element.parse(try #require(try harness.write().last).stanza)
        #expect(stanza["id"] == message.originID && stanza.child("body")?.text == "one")
        #expect(try Message.load(message.id, from: harness.database)?.encryption == nil)
    }

    @Test("an intent of an earlier version, without a decision on encryption, keeps it")
    func earlierVersion() throws {
        let intent = try JSONDecoder().decode(Resend.self, from: Data(#"{"message":17}"#.utf8))
        #expect(intent.message == .row(17) && !intent.isPlain)
    }
}
