import KalijAddress
import KalijStore
import KalijXML
import Testing

@testable import KalijEngine
@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// Rules.md, durability 7: the key of a received message is (archive, stanza-id, from, message id).
struct ReceivingTests {
    private static func live(_ body: String, from: String = "romeo@example.net/x", id: String = "m1", archive: String)
        -> String
    {
        """
        <message from='\(from)' to='juliet@example.org' type='chat' id='\(id)'><body>\(body)</body>\
        <stanza-id xmlns='urn:xmpp:sid:0' by='juliet@example.org' id='\(archive)'/></message>
        """
    }

    @Test("a message is stored once, however often it is delivered and read from the archive")
    func once() throws {
        let harness = try StepHarness.caughtUp()
        #expect(try harness.receive(Self.live("hello", archive: "a1")).told == ["message hello"])
        #expect(try harness.receive(Self.live("hello", archive: "a1")).told.isEmpty)
        try harness.bind(resumeID: "session-2", answered: .all)
        try harness.answerFeatures(archive: true)
        let plain = "<message from='romeo@example.net/x' type='chat' id='m1'><body>hello</body></message>"
        for _ in 0..<2 { #expect(try harness.receive(try harness.archived("a1", plain)).told.isEmpty) }
        #expect(try harness.history() == ["in hello"])
    }

    @Test("messages of two senders with the same stanza-id are both stored, and so are two messages of one sender")
    func sameStanzaID() throws {
        let harness = try StepHarness.caughtUp()
        try harness.receive(Self.live("one", archive: "a1"))
        try harness.receive(Self.live("two", from: "nurse@example.net/y", archive: "a1"))
        try harness.receive(Self.live("three", id: "m2", archive: "a1"))
        #expect(try harness.history() == ["in one", "in two", "in three"])
    }

    @Test("a message id alone never identifies a known message")
    func sameMessageID() throws {
        let harness = try StepHarness.caughtUp()
        try harness.receive(Self.live("one", archive: "a1"))
        try harness.receive(Self.live("two", archive: "a2"))
        let unarchived = "<message from='romeo@example.net/x' id='m1'><body>three</body></message>"
        try harness.receive(unarchived)
        try harness.receive(unarchived)
        #expect(try harness.history() == ["in one", "in two", "in three", "in three"])
    }

    @Test("a stanza-id is trusted only from the account's own archive, and only once disco has shown it")
    func untrusted() throws {
        let harness = try StepHarness.caughtUp()
        for (number, by) in ["mallory@example.net", "juliet@example.org/balcony", "example.org", ""].enumerated() {
            try harness.receive(
                """
                <message from='mallory@example.net/x' id='\(number)'><body>\(number)</body>\
                <stanza-id xmlns='urn:xmpp:sid:0' by='\(by)' id='forged'/></message>
                """)
        }
        #expect(try harness.number("SELECT count(*) FROM message WHERE stanza_id IS NULL") == 4)
        let unknown = try StepHarness.online()
        try unknown.receive(Self.live("hello", archive: "forged"))
        #expect(try unknown.number("SELECT count(*) FROM message WHERE stanza_id IS NULL") == 1)
    }

    @Test("without an archive a sender's origin-id identifies a known message, another sender's does not")
    func originID() throws {
        let harness = try StepHarness.online()
        func message(from: String) -> String {
            "<message from='\(from)'><body>x</body><origin-id xmlns='urn:xmpp:sid:0' id='o1'/></message>"
        }
        for from in ["romeo@example.net/x", "romeo@example.net/x", "nurse@example.net/y"] {
            try harness.receive(message(from: from))
        }
        #expect(try harness.number("SELECT count(*) FROM message") == 2)
    }

    @Test("a message without text that was not archived is not kept")
    func notKept() throws {
        let harness = try StepHarness.caughtUp()
        try harness.receive(
            "<message from='romeo@example.net/x'><composing xmlns='http://jabber.org/protocol/chatstates'/></message>")
        #expect(try harness.history().isEmpty)
    }

    @Test("RFC 6121, 5.2.2: a message without a type, or of an unknown one, is of type \"normal\"")
    func types() throws {
        for (attribute, type) in [("", "normal"), ("type='shout'", "normal"), ("type='chat'", "chat")] {
            let message = try Element.parse("<message xmlns='jabber:client' \(attribute)><body>hi</body></message>")
            let received = IncomingMessage(
                message, .live, account: try JID("juliet@example.org"), stampedBy: nil, now: 0)
            #expect(received.type == type)
        }
    }

    @Test("an error marks the message that it answers as failed, and no other")
    func errors() throws {
        let harness = try StepHarness.caughtUp()
        let (one, two) = (try harness.accept("one"), try harness.accept("two"))
        try harness.write()
        let error = """
            <error type='cancel'><service-unavailable xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></message>
            """
        let (first, second) = (try #require(one.originID), try #require(two.originID))
        // The word of somebody else does not count.
        try harness.receive("<message type='error' from='mallory@example.net' id='\(second)'>" + error)
        try harness.receive("<message type='error' from='romeo@example.net' id='unknown'>" + error)
        let told = try harness.receive(
            "<message type='error' from='romeo@example.net/x' id='\(first)'><body>one</body>" + error)
        #expect(told.told == ["one is failed"])
        try harness.acknowledgeAll()
        #expect(try harness.history() == ["out one (failed)", "out two (acked)"])
        let failure = try harness.text("SELECT error FROM message WHERE body = 'one'").map(Reason.init(stored:))
        #expect(failure?.code == .stanzaError && failure?.description == "service-unavailable (cancel)")
    }

    @Test("a stranger's carbon of a message in our name is ignored")
    func forgedCarbon() throws {
        let harness = try StepHarness.caughtUp()
        try harness.receive(
            """
            <message from='mallory@example.net/x'><sent xmlns='urn:xmpp:carbons:2'><forwarded xmlns='urn:xmpp:forward:0'>\
            <message xmlns='jabber:client' from='juliet@example.org/phone' to='romeo@example.net'><body>forged</body>\
            </message></forwarded></sent></message>
            """)
        #expect(try harness.history().isEmpty)
    }

    @Test(
        "our own server's refusal counts too, with its name, the account's or none",
        arguments: ["from='example.org'", "from='juliet@example.org'", ""])
    func refusedByOurServer(_ from: String) throws {
        let harness = try StepHarness.caughtUp()
        let id = try #require(try harness.accept("one").originID)
        try harness.write()
        let told = try harness.receive("<message type='error' \(from) id='\(id)'><error type='modify'/></message>").told
        #expect(told == ["one is failed"])
    }

    @Test("a stanza-id counts also where disco shows urn:xmpp:sid:0 and no archive")
    func stampedWithoutArchive() throws {
        let harness = try StepHarness.online()
        let id = try #require(try harness.questions("features").last)
        try harness.receive(
            """
            <iq type='result' id='\(id)'><query xmlns='http://jabber.org/protocol/disco#info'>\
            <feature var='urn:xmpp:sid:0'/></query></iq>
            """)
        try harness.assumeAnswered(.bookmarks, .displayed)
        #expect(try harness.queue().last == "presence c", "there is no archive to read")
        for _ in 0..<2 { try harness.receive(Self.live("one", archive: "a1")) }
        #expect(try harness.history() == ["in one"])
        #expect(try harness.text("SELECT stanza_id FROM message") == "a1")
    }

    @Test("a reflection, a carbon and the archive's copy of our own message find the row of the sent message")
    func ownCopies() throws {
        let harness = try StepHarness.caughtUp()
        let id = try #require(try harness.accept("mine").originID)
        try harness.write()
        let copy = """
            <message xmlns='jabber:client' from='juliet@example.org/balcony' to='romeo@example.net' type='chat' \
            id='\(id)'><body>mine</body><origin-id xmlns='urn:xmpp:sid:0' id='\(id)'/></message>
            """
        let carbon = """
            <message from='juliet@example.org'><sent xmlns='urn:xmpp:carbons:2'><forwarded xmlns='urn:xmpp:forward:0'>\
            \(copy)</forwarded></sent></message>
            """
        #expect(try harness.receive(carbon).told == ["mine is acked"])
        #expect(
            try harness.receive(copy.replacing(" xmlns='jabber:client'", with: "", maxReplacements: 1)).told.isEmpty)
        _ = try harness.steps.readArchive()
        #expect(
            try harness.receive(try harness.result("a1", xml: copy.replacing(" xmlns='jabber:client'", with: ""))).told
                .isEmpty)
        try harness.fin("page", last: "a1", complete: true)
        #expect(try harness.history() == ["out mine (acked)"])
    }

    // Simulation, seed 219: a session resumed before the server had said whether it has an archive.
    @Test("a copy of another device's message, from before the archive's ids were trusted, is not stored again")
    func otherDevicesCopy() throws {
        let harness = try StepHarness.caughtUp()
        try harness.database.run("UPDATE session SET stamps = 0", [])
        let copy = """
            <message xmlns='jabber:client' from='juliet@example.org/phone' to='romeo@example.net' type='chat' id='m1'>\
            <body>from the phone</body><origin-id xmlns='urn:xmpp:sid:0' id='m1'/></message>
            """
        try harness.receive(
            """
            <message from='juliet@example.org'><sent xmlns='urn:xmpp:carbons:2'><forwarded xmlns='urn:xmpp:forward:0'>\
            \(copy)</forwarded></sent></message>
            """)
        try harness.database.run("UPDATE session SET stamps = 1", [])
        _ = try harness.steps.readArchive()
        try harness.receive(try harness.result("a1", xml: copy.replacing(" xmlns='jabber:client'", with: "")))
        try harness.fin("page", last: "a1", complete: true)
        #expect(try harness.history() == ["out from the phone (acked)"])
        #expect(try harness.text("SELECT stanza_id FROM message") == "a1")
    }
}

/// What another client of the account's sends to the account itself: the server delivers it, sends a copy, and archives it twice.
struct NoteToSelfTests {
    enum Kind: CaseIterable { case withOrigin, withoutOrigin, unreadable, reaction }

    private func note(_ kind: Kind) -> String {
        let content =
            switch kind {
            case .withOrigin: "<body>x</body><origin-id xmlns='urn:xmpp:sid:0' id='n'/>"
            case .withoutOrigin: "<body>x</body>"
            case .unreadable: "<body>excuse</body><encrypted xmlns='urn:xmpp:omemo:2'/>"
            case .reaction: "<reactions xmlns='urn:xmpp:reactions:0' id='m'><reaction>👍</reaction></reactions>"
            }
        return
            "<message from='juliet@example.org/laptop' to='juliet@example.org' type='chat' id='n'>\(content)</message>"
    }

    private func stamped(_ xml: String, _ id: String) -> String {
        xml.replacing(
            "</message>", with: "<stanza-id xmlns='urn:xmpp:sid:0' by='juliet@example.org' id='\(id)'/></message>")
    }

    private func carbon(_ xml: String, _ kind: String) -> String {
        """
        <message from='juliet@example.org'><\(kind) xmlns='urn:xmpp:carbons:2'><forwarded xmlns='urn:xmpp:forward:0'>\
        \(StepHarness.inClient(xml))</forwarded></\(kind)></message>
        """
    }

    private func rows(_ harness: StepHarness) throws -> Int64 {
        try #require(try harness.number("SELECT count(*) FROM message"))
    }

    @Test(
        "XEP-0280, XEP-0313: delivered, copied and archived under two ids, in any order, a note is one row and one event",
        arguments: Kind.allCases)
    func copies(_ kind: Kind) throws {
        let live = [
            stamped(note(kind), "a1"), carbon(stamped(note(kind), "a2"), "sent"), carbon(note(kind), "received"),
            note(kind),
        ]
        for order in [live, live.reversed(), Array(live[1...]), [live[3]], []] {
            let harness = try StepHarness.caughtUp()
            var told: [String] = []
            for stanza in order { told += try harness.receive(stanza).told }
            for _ in 0..<2 {
                _ = try harness.steps.readArchive()
                for id in ["a1", "a2"] { told += try harness.receive(try harness.result(id, xml: note(kind))).told }
                told += try harness.receive(try harness.result("a3", "other")).told
                try harness.fin("page", first: "a1", last: "a3", complete: true)
                #expect(try rows(harness) == 2, "\(kind) \(order.count)")
            }
            let events = told.filter { $0.hasPrefix("message ") }
            #expect(events.count == (kind == .reaction ? 1 : 2), "\(kind) \(order.count) \(events)")
            let positions = try harness.database.prepare("SELECT message_id FROM message ORDER BY position")
                .all { $0.text() }
            #expect(positions.first == "n", "the place is the archive's")
        }
    }

    @Test("the archive that shows the note twice moves nothing when it is read again")
    func still() throws {
        let harness = try StepHarness.caughtUp()
        func read() throws -> [String] {
            _ = try harness.steps.readArchive()
            // The archive shows what is behind the message that the question names.
            let cursor = try harness.asked().first?.split(separator: " ").last.map(String.init) ?? ""
            for id in ["a1", "a2", "a3", "a4"] where id > cursor || !cursor.hasPrefix("a") {
                let xml = id < "a3" ? note(.withOrigin) : ArchiveSyncTests.message(id)
                try harness.receive(try harness.result(id, xml: xml))
            }
            try harness.fin("page", first: "a1", last: "a4", complete: true)
            return try harness.database.prepare("SELECT message_id || position AS place FROM message ORDER BY id")
                .all { $0.text() }
        }
        let before = try read()
        #expect(try read() == before)
    }

    @Test("two notes are two lines, also under one id")
    func others() throws {
        let harness = try StepHarness.caughtUp()
        let second = note(.withoutOrigin).replacing(">x<", with: ">y<")
        for stanza in [note(.withoutOrigin), second, note(.withOrigin)] { try harness.receive(stanza) }
        #expect(try rows(harness) == 3)
    }

    @Test("a corrected and a retracted note stay one line when the archive shows both copies again")
    func changed() throws {
        let harness = try StepHarness.caughtUp()
        try harness.receive(stamped(note(.withoutOrigin), "a1"))
        try harness.receive(
            """
            <message from='juliet@example.org/laptop' to='juliet@example.org' type='chat' id='c'><body>y</body>\
            <replace xmlns='urn:xmpp:message-correct:0' id='n'/></message>
            """)
        _ = try harness.steps.readArchive()
        for id in ["a1", "a2"] { try harness.receive(try harness.result(id, xml: note(.withoutOrigin))) }
        try harness.fin("page", first: "a1", last: "a2", complete: true)
        #expect(try harness.history() == ["out y (acked)"])
    }
}
