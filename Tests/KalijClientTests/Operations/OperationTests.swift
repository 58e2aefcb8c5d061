import KalijXML
import TestSupport
import Testing

@testable import KalijEngine
@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// Operations of the user's, of peers, and of forgers.
struct OperationTests {
    private func perform(_ intent: some Intent, _ harness: StepHarness, id: String = "i1") throws -> IntentOutcome {
        var outcome = IntentOutcome.pending
        _ = try harness.runner.run("application", for: harness.account) { step in
            outcome = try Intents(step: step).perform(intent, id: id)
        }
        return outcome
    }

    private func outcome(_ harness: StepHarness, id: String = "i1") throws -> IntentOutcome? {
        try HistoryReader(harness.database).outcome(of: id, by: harness.account)
    }

    private func last(_ harness: StepHarness) throws -> Element {
        try Element.parse(try #require(try harness.write().last).stanza)
    }

    /// Whether any table has the text.
    private func has(_ text: String, _ harness: StepHarness) throws -> Bool {
        try harness.number(
            """
            SELECT (SELECT count(*) FROM message WHERE body LIKE '%\(text)%') + (SELECT count(*) FROM original WHERE body LIKE
            '%\(text)%') + (SELECT count(*) FROM operation WHERE content LIKE '%\(text)%')
            """) != 0
    }

    // MARK: Of the user

    @Test(
        "XEP-0308: the user's correction is shown at once, leaves as the standard says, and is done once acknowledged")
    func correct() throws {
        let harness = try StepHarness.caughtUp()
        let message = try harness.accept("Wherefor art thou?")
        #expect(try perform(Correct(.row(message.id), body: "Wherefore art thou?"), harness) == .pending)
        #expect(try harness.records() == ["out Wherefore art thou? (edited)"])
        let stanza = try last(harness)
        #expect(stanza["id"] == "i1" && stanza["type"] == "chat" && stanza["to"] == "romeo@example.net")
        #expect(stanza.child("replace", "urn:xmpp:message-correct:0")?["id"] == message.originID)
        #expect(stanza.child("body")?.text == "Wherefore art thou?")
        #expect(stanza.child("origin-id", "urn:xmpp:sid:0")?["id"] == "i1")
        try harness.acknowledgeAll()
        #expect(try outcome(harness) == .done)
        #expect(try perform(Correct(.row(message.id), body: "again"), harness) == .done, "the same intent again")
        #expect(try harness.records() == ["out Wherefore art thou? (edited)"])
    }

    @Test("XEP-0424: a retraction hides the text at once; once acknowledged, no table has any version of it")
    func retract() throws {
        let harness = try StepHarness.caughtUp()
        let message = try harness.accept("secret one")
        _ = try perform(Correct(.row(message.id), body: "secret two"), harness, id: "i0")
        #expect(try perform(Retract(.id(try #require(message.originID))), harness) == .pending)
        #expect(try harness.records() == ["out (retracted)"])
        let stanza = try last(harness)
        #expect(stanza.child("retract", "urn:xmpp:message-retract:1")?["id"] == message.originID)
        #expect(stanza.child("store", "urn:xmpp:hints") != nil)
        #expect(stanza.child("fallback", "urn:xmpp:fallback:0")?["for"] == "urn:xmpp:message-retract:1")
        #expect(try has("secret", harness), "the retraction may be refused")
        try harness.acknowledgeAll()
        #expect(try !has("secret", harness))
        #expect(try perform(React(.row(message.id), ["👍"]), harness, id: "i2") == .failed("the message is gone"))
    }

    @Test("XEP-0444 section 3.3: refused operations do not count, and their outcome is failed")
    func refused() throws {
        let harness = try StepHarness.caughtUp()
        let message = try harness.accept("one")
        for (id, intent) in [
            ("a", Correct(.row(message.id), body: "two") as any Intent), ("b", React(.row(message.id), ["👍"])),
            ("c", Retract(.row(message.id))),
        ] {
            _ = try perform(intent, harness, id: id)
            try harness.receive(
                """
                <message type='error' id='\(id)' from='romeo@example.net'><error type='cancel'><service-unavailable \
                xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></message>
                """)
            #expect(try outcome(harness, id: id) == .failed("service-unavailable (cancel)"))
            #expect(try harness.records() == ["out one"])
        }
    }

    @Test("reactions name the origin-id, and an empty list takes them back")
    func react() throws {
        let harness = try StepHarness.caughtUp()
        try harness.receive(
            OperationStanza.message("<body>hi</body><origin-id xmlns='urn:xmpp:sid:0' id='o1'/>", id: "m1"))
        _ = try perform(React(.row(1), ["👍", "👩‍👩‍👧‍👦", "👍"]), harness)
        let reactions = try #require(try last(harness).child("reactions", "urn:xmpp:reactions:0"))
        #expect(reactions["id"] == "o1")
        #expect(reactions.children("reaction").map(\.text) == ["👍", "👩‍👩‍👧‍👦"])
        let records = try harness.records()
        #expect(records == ["in hi [juliet@example.org 👍 👩‍👩‍👧‍👦]"])
        _ = try perform(React(.row(1), []), harness, id: "i2")
        #expect(try harness.records() == ["in hi"])
        #expect(try perform(React(.row(1), ["hello"]), harness, id: "i3") == .failed("\"hello\" is not one emoji"))
        #expect(try perform(React(.row(9), ["👍"]), harness, id: "i4") == .failed("there is no such message"))
    }

    @Test("others' messages are not corrected and not retracted; the user is told why")
    func notOwn() throws {
        let harness = try StepHarness.caughtUp()
        try harness.receive(OperationStanza.text("hi", id: "m1"))
        #expect(try perform(Correct(.row(1), body: "x"), harness) == .failed("the message is somebody else's"))
        #expect(try perform(Retract(.row(1)), harness, id: "i2") == .failed("the message is somebody else's"))
        #expect(try harness.queue().isEmpty)
    }

    @Test("a forgotten message stays forgotten: neither the archive nor a correction brings it back")
    func forget() throws {
        let harness = try StepHarness.caughtUp()
        try harness.receive(OperationStanza.stamped(OperationStanza.text("secret", id: "m1"), "a1"))
        #expect(try perform(Forget(.row(1)), harness) == .done)
        #expect(try harness.records().isEmpty && !has("secret", harness))
        _ = try harness.steps.readArchive()
        try harness.receive(try harness.result("a1", xml: OperationStanza.text("secret", id: "m1")))
        try harness.receive(OperationStanza.correction(of: "m1", "secret again", id: "c1"))
        #expect(try harness.records().isEmpty)
    }

    @Test("XEP-0461: an answer names its message and quotes it for other clients; the quote of others is not shown")
    func reply() throws {
        let harness = try StepHarness.caughtUp()
        try harness.receive(OperationStanza.text("What's in a name?\nThat which we call a rose", id: "m1"))
        let message = try #require(
            try HistoryReader(harness.database).messages(of: harness.account, with: nil, limit: 1).first)
        _ = try harness.runner.run("application", for: harness.account) { step in
            try step.accept("Nothing", to: .received("romeo@example.net"), answering: message)
        }
        let stanza = try last(harness)
        #expect(stanza.child("reply", "urn:xmpp:reply:0")?["id"] == "m1")
        #expect(stanza.child("body")?.text == "> What's in a name?\n> That which we call a rose\nNothing")
        #expect(try harness.records().last == "out Nothing")
        // The same from another client of ours.
        let copy = OperationStanza.own(
            OperationStanza.message(stanza.children.map { $0.xml(in: "jabber:client") }.joined(), id: "copy"))
        try harness.receive(OperationStanza.stamped(copy.replacing("origin-id", with: "x-id"), "a9"))
        #expect(try harness.records().last == "out Nothing")
        for bad in ["-1' end='2", "3' end='1", "0' end='99999", "0' end='9223372036854775808", "x' end='y"] {
            try harness.receive(
                OperationStanza.message(
                    """
                    <body>plain</body><reply xmlns='urn:xmpp:reply:0' id='m1'/><fallback xmlns='urn:xmpp:fallback:0' \
                    for='urn:xmpp:reply:0'><body start='\(bad)'/></fallback>
                    """, id: "bad"))
            #expect(try harness.records().last == "in plain")
        }
    }

    // MARK: After a lost session

    @Test("case 11: a text is corrected offline and the session is lost: both leave once, in order")
    func offline() throws {
        let harness = try StepHarness.caughtUp()
        let message = try harness.accept("one")
        _ = try perform(Correct(.row(message.id), body: "two"), harness)
        try harness.bind(resumeID: "session-2", answered: .all)
        try harness.answerFeatures(archive: true)
        for _ in 0..<2 { try harness.answerPage(complete: true) }
        let bodies = try harness.write().map { try Element.parse($0.stanza) }.compactMap {
            $0.child("body")?.text
        }
        #expect(bodies == ["one", "two"])
    }

    @Test("without an archive, reactions are sent again, and a correction is of unknown outcome")
    func withoutArchive() throws {
        let harness = try StepHarness.online()
        try harness.answerFeatures(archive: false)
        let message = try harness.accept("one")
        try harness.write()
        try harness.acknowledgeAll()
        _ = try perform(Correct(.row(message.id), body: "two"), harness, id: "c")
        _ = try perform(React(.row(message.id), ["👍"]), harness, id: "r")
        try harness.write()
        _ = try harness.steps.resumeFailed(nil)
        try harness.bind(resumeID: "session-2", answered: .all)
        let left = try harness.write().map { try Element.parse($0.stanza) }.filter { $0.name == "message" }
        #expect(left.map { $0["id"] } == ["r"])
        guard case .failed(let reason)? = try outcome(harness, id: "c") else { return #expect(Bool(false)) }
        #expect(reason.contains("nobody knows"))
        try harness.acknowledgeAll()
        #expect(try outcome(harness, id: "r") == .done)
    }

    // MARK: Hostile

    @Test("case 3: strangers and forged copies change nothing")
    func strangers() throws {
        let harness = try StepHarness.caughtUp()
        try harness.receive(OperationStanza.text("one", id: "m1"))
        let mine = try harness.accept("mine")
        let id = try #require(mine.originID)
        for stanza in [
            OperationStanza.correction(of: "m1", "forged", id: "x1"), OperationStanza.retraction(of: "m1", id: "x2"),
            OperationStanza.reaction(to: "m1", "👎", id: "x3"), OperationStanza.correction(of: id, "forged", id: "x4"),
            OperationStanza.retraction(of: id, id: "x5"), OperationStanza.reaction(to: id, "👎", id: "x6"),
        ] {
            let tybalt = stanza.replacing("romeo@example.net/orchard", with: "tybalt@example.com/street")
            try harness.receive(tybalt)
            // As a copy that tybalt made, and in the room's name.
            try harness.receive(
                """
                <message from='tybalt@example.com'><sent xmlns='urn:xmpp:carbons:2'><forwarded \
                xmlns='urn:xmpp:forward:0'>\(StepHarness.inClient(OperationStanza.own(stanza)))</forwarded></sent></message>
                """)
            try harness.receive(tybalt.replacing("type='chat'", with: "type='groupchat'"))
        }
        // Corrections of unknown messages are lines of the stranger's own conversation.
        let others = try harness.records().filter { !$0.contains("forged") }
        #expect(others == ["in one", "out mine"])
        #expect(
            try harness.number("SELECT count(*) FROM message WHERE body = 'forged' AND conversation LIKE 'romeo%'") == 0
        )
    }

    @Test("case 6: a retraction of an unknown message shows no fallback; when the message comes, it is gone")
    func unknownRetraction() throws {
        let harness = try StepHarness(notifies: true)
        try harness.bind(answered: .all)
        try harness.answerFeatures(archive: true)
        for _ in 0..<2 { try harness.answerPage(complete: true) }
        let told = try harness.receive(OperationStanza.retraction(of: "m1", id: "x1")).told
        #expect(told.isEmpty)
        #expect(try harness.records().isEmpty)
        try harness.receive(OperationStanza.text("late", id: "m1"))
        #expect(try harness.records() == ["in (retracted)"])
        #expect(try harness.number("SELECT count(*) FROM notification WHERE kind = 'show'") == 0)
        #expect(try !has("late", harness))
    }

    @Test(
        "a correction of another device's, of an unknown message, is retracted here: once acknowledged, its text is gone"
    )
    func retractedLine() throws {
        let harness = try StepHarness.caughtUp()
        let correction = """
            <message from='juliet@example.org/phone' to='romeo@example.net' type='chat' id='x1'><body>secret</body>\
            <replace xmlns='urn:xmpp:message-correct:0' id='unknown'/></message>
            """
        try harness.receive(ReadingHarness.carbon(correction))
        let shown = try harness.records()
        #expect(shown == ["out secret (corrects unknown)"])
        let row = try #require(try harness.number("SELECT id FROM message WHERE message_id = 'x1'"))
        _ = try perform(Retract(.row(row)), harness)
        #expect(try has("secret", harness), "the retraction may be refused")
        try harness.write()
        try harness.acknowledgeAll()
        #expect(try harness.records().isEmpty)
        #expect(try !has("secret", harness))
    }

    @Test("the notification of a message that is retracted is withdrawn")
    func withdrawn() throws {
        let harness = try StepHarness(notifies: true)
        try harness.bind(answered: .all)
        try harness.answerFeatures(archive: true)
        for _ in 0..<2 { try harness.answerPage(complete: true) }
        try harness.receive(OperationStanza.text("seen", id: "m1"))
        try harness.receive(OperationStanza.text("unseen", id: "m2"))
        try harness.database.run("UPDATE notification SET done = 1 WHERE message = 1")
        for id in ["m1", "m2"] { try harness.receive(OperationStanza.retraction(of: id, id: "x\(id)")) }
        #expect(try harness.text("SELECT group_concat(message || kind) FROM notification") == "1withdraw")
    }

    @Test("case 8: a plain correction of an encrypted message is a line of its own; a plain retraction does not count")
    func encrypted() throws {
        let harness = try StepHarness.caughtUp()
        try harness.receive(
            OperationStanza.message(
                """
                <body>This is encrypted</body><encryption xmlns='urn:xmpp:eme:0' namespace='urn:xmpp:omemo:2'/>\
                <encrypted xmlns='urn:xmpp:omemo:2'/>
                """, id: "m1"))
        try harness.receive(OperationStanza.correction(of: "m1", "plain", id: "c1"))
        #expect(try harness.records() == ["in -", "in plain (corrects m1)"])
        #expect(try harness.number("SELECT count(*) FROM sealed") == 1)
        try harness.receive(OperationStanza.retraction(of: "m1", id: "x1"))
        #expect(try harness.records().first == "in -")
        #expect(try harness.number("SELECT count(*) FROM sealed") == 1)
    }

    @Test("case 9: operations for what never comes are bounded, in memory, rows and time")
    func bounded() throws {
        let harness = try StepHarness.caughtUp()
        for number in 0..<(RandomInput.isLong ? 2_000 : 130) {
            try harness.receive(OperationStanza.retraction(of: "gone-\(number)", id: "x\(number)"))
            try harness.receive(OperationStanza.reaction(to: "gone", "👍", id: "r\(number)"))
        }
        #expect(try harness.number("SELECT count(*) FROM operation") == 100)
        #expect(try harness.number("SELECT count(*) FROM message") == 100)
        try harness.receive(OperationStanza.text("hi", id: "m1"))
        for number in 0..<(RandomInput.isLong ? 500 : 130) {
            try harness.receive(OperationStanza.reaction(to: "m1", "👍", id: "s\(number)"))
        }
        #expect(try harness.records() == ["in hi [romeo@example.net 👍]"])
        #expect(try #require(try harness.number("SELECT count(*) FROM message")) <= 201)
    }

    @Test("malformed operations are no lines, or plain lines, and change nothing")
    func malformed() throws {
        let harness = try StepHarness.caughtUp()
        try harness.receive(OperationStanza.text("one", id: "m1"))
        let long = String(repeating: "x", count: 2_000)
        for content in [
            "<retract xmlns='urn:xmpp:message-retract:1'/><body>fallback</body>",
            "<retract xmlns='urn:xmpp:message-retract:1' id=''/>", "<reactions xmlns='urn:xmpp:reactions:0'/>",
            "<reactions xmlns='urn:xmpp:reactions:0' id='\(long)'><reaction>👍</reaction></reactions>",
            "<replace xmlns='urn:xmpp:message-correct:0' id='m1'/>",
            "<reactions xmlns='urn:xmpp:reactions:0' id='m1'><reaction>text</reaction><reaction/></reactions>",
        ] { try harness.receive(OperationStanza.message(content, id: "x")) }
        #expect(try harness.records() == ["in one"])
        try harness.receive(
            OperationStanza.message("<body>plain</body><replace xmlns='urn:xmpp:message-correct:0'/>", id: "y"))
        #expect(try harness.records() == ["in one", "in plain"])
    }

    @Test("a correction that names itself, and corrections in a circle")
    func circles() throws {
        let harness = try StepHarness.caughtUp()
        try harness.receive(OperationStanza.correction(of: "c1", "self", id: "c1"))
        try harness.receive(OperationStanza.correction(of: "c3", "two", id: "c2"))
        try harness.receive(OperationStanza.correction(of: "c2", "three", id: "c3"))
        #expect(try harness.records().count == 3)
    }
}
