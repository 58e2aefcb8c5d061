import KalijAddress
import KalijStore
import KalijXML
import Testing

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// XEP-0333.
struct MarkerTests {
    private typealias R = ReadingHarness

    // MARK: Given

    @Test(
        "section 4.2: of several messages read at once the newest that asks for a marker gets one, to the bare address")
    func newest() throws {
        let r = try R()
        for id in ["one", "two"] { try r.harness.receive(R.message(id)) }
        try r.harness.receive(R.message("three", markable: false))
        #expect(try r.read() == .pending)
        #expect(try r.markers() == ["\(R.romeo) two"])
        #expect(try r.read() == .done)
        #expect(try r.markers() == ["\(R.romeo) two"], "nothing new was read")
        try r.harness.receive(R.message("four", markable: false))
        #expect(try r.read() == .done)
        #expect(try r.markers() == ["\(R.romeo) two"], "opportunistic markers are not recommended (section 5)")
    }

    @Test("the marker takes the path of messages, with a hint for the archive; its acknowledgement ends the intent")
    func stanza() throws {
        let r = try R()
        try r.harness.receive(R.message("one"))
        #expect(try r.read() == .pending)
        let entry = try #require(try r.harness.write().last { $0.message != nil })
        let stanza = try Element.parse(entry.stanza)
        #expect(stanza["type"] == "chat" && stanza.child("store", "urn:xmpp:hints") != nil)
        #expect(stanza.child("markable", R.markerNamespace) == nil && stanza.child("body") == nil)
        try r.harness.acknowledgeAll()
        #expect(try r.harness.text("SELECT problem FROM intent") == "")
        #expect(try r.harness.history() == ["in one"])
    }

    @Test("XEP-0333 section 7: strangers get no marker; a contact that was written to does")
    func strangers() throws {
        let r = try R()
        try r.harness.receive(R.message("one", from: "tybalt@example.com"))
        try r.read("tybalt@example.com")
        #expect(try r.unread("tybalt@example.com") == 0 && r.markers() == [])
        try r.harness.accept("Who are you?", to: "tybalt@example.com")
        try r.harness.receive(R.message("two", from: "tybalt@example.com"))
        try r.read("tybalt@example.com")
        #expect(try r.markers() == ["tybalt@example.com two"])
    }

    @Test("a blocked contact gets no marker, although the user has written to the contact")
    func blocked() throws {
        let r = try R()
        try r.harness.accept("Stop that.", to: R.romeo)
        #expect(try BlockedRows(database: r.harness.database, account: 1).add(.received(R.romeo)))
        try r.harness.receive(R.message("one"))
        try r.read()
        #expect(try r.unread() == 0 && r.markers() == [])
    }

    @Test("neither rooms nor messages without an id get a marker; nor what another device has read; nor history")
    func others() throws {
        let r = try R()
        try r.harness.receive(R.message("one", type: "groupchat"))
        try r.harness.receive(R.message("", stamped: false))
        try r.read()
        #expect(try r.markers().isEmpty)
        try r.harness.receive(R.message("two"))
        try r.harness.receive(R.carbon(R.ownMarker(for: "two")))
        try r.read()
        #expect(try r.markers().isEmpty, "the other device has given the marker")
    }

    @Test("while the contacts are unknown the marker waits; the newest alone, and only if the contact may know")
    func roster() throws {
        let r = try R()
        try r.harness.database.run("UPDATE session SET subscribers = 0")
        for id in ["one", "two"] {
            try r.harness.receive(R.message(id))
            try r.harness.receive(R.message(id, from: "tybalt@example.com"))
            try r.read()
            try r.read("tybalt@example.com")
        }
        #expect(try r.markers().isEmpty)
        try r.harness.bind(resumeID: "session-2", answered: .all(but: .roster))
        try r.harness.answerRoster("<item jid='\(R.romeo)' subscription='from'/>")
        #expect(try r.markers() == ["\(R.romeo) two"])
        #expect(try r.harness.number("SELECT count(*) FROM displayed WHERE owed IS NOT NULL") == 0)
    }

    @Test("an intent performed twice, or by the next process, gives one marker")
    func once() throws {
        let r = try R()
        try r.harness.receive(R.message("one"))
        for _ in 0..<2 {
            try r.harness.perform { _ = try Intents(step: $0).perform(MarkRead(try JID(R.romeo)), id: "same") }
        }
        #expect(try r.markers() == ["\(R.romeo) one"])
    }

    @Test("a text asks for a marker; a marker, a correction or a reaction does not")
    func asks() throws {
        let r = try R()
        try r.harness.accept("Hi")
        let stanza = try Element.parse(try #require(try r.harness.write().last).stanza)
        #expect(stanza.child("markable", R.markerNamespace) != nil)
    }

    // MARK: Of others

    private func send(_ r: ReadingHarness, _ bodies: [String]) throws -> [String] {
        let ids = try bodies.map { try #require(try r.harness.accept($0).originID) }
        try r.harness.write()
        try r.harness.acknowledgeAll()
        return ids
    }

    @Test("a marker of the recipient's: the message and all before are displayed; it only moves forward")
    func displayed() throws {
        let r = try R()
        let ids = try send(r, ["one", "two", "three"])
        let effects = try r.harness.receive(R.marker(for: ids[1]))
        #expect(effects.told == ["two is displayed"])
        #expect(try r.shown() == ["one displayed", "two displayed", "three acked"])
        try r.harness.receive(R.marker(for: ids[0]))
        #expect(try r.shown() == ["one displayed", "two displayed", "three acked"])
        try r.harness.receive(R.carbon(R.marker(for: ids[2]), kind: "received"))
        #expect(try r.shown() == ["one displayed", "two displayed", "three displayed"])
        #expect(try r.harness.number("SELECT count(*) FROM message WHERE shown = 0") == 0, "a marker is no message")
    }

    @Test("a receipt after the marker changes nothing; a change of an earlier message is told in the state displayed")
    func order() throws {
        let r = try R()
        let ids = try send(r, ["one", "two"])
        try r.harness.receive(R.marker(for: ids[1]))
        try r.harness.receive(
            "<message from='\(R.romeo)/x' id='r'><received xmlns='urn:xmpp:receipts' id='\(ids[1])'/></message>")
        #expect(try r.shown() == ["one displayed", "two displayed"])
        let effects = try r.harness.receive(
            """
            <message from='\(R.romeo)/x' type='chat' id='e'><reactions xmlns='urn:xmpp:reactions:0' id='\(ids[0])'>\
            <reaction>👋</reaction></reactions></message>
            """)
        let changed = effects.events.compactMap { ($0.content as? MessageChanged)?.message }
        #expect(changed.map(\.state) == [.displayed])
    }

    @Test("a marker settles an unknown outcome, of the named message alone")
    func settles() throws {
        let r = try R()
        let ids = try send(r, ["one", "two"])
        try r.harness.database.run("UPDATE message SET state = 'sent', settled = 0")
        try r.harness.receive(R.marker(for: ids[1]))
        #expect(try r.harness.history() == ["out one (sent) unsettled", "out two (displayed)"])
        #expect(try r.shown() == ["one sent", "two displayed"])
    }

    @Test("only the recipient's word counts", arguments: ["tybalt@example.com/x", "juliet@example.org/phone"])
    func forged(sender: String) throws {
        let r = try R()
        let ids = try send(r, ["one"])
        try r.harness.receive(R.marker(for: ids[0], from: sender))
        try r.harness.receive(R.marker(for: ids[0], type: "groupchat"))
        try r.harness.receive(R.marker(for: ids[0], type: "error"))
        #expect(try r.shown() == ["one acked"])
    }

    @Test("a marker for a message in a gap counts once the message comes; unknown names are bounded")
    func early() throws {
        let r = try R()
        try r.harness.receive(R.marker(for: "phone-1"))
        try r.harness.receive(R.carbon(R.own("phone-1")))
        try r.harness.receive(R.carbon(R.own("phone-2")))
        #expect(try r.shown() == ["phone-1 displayed", "phone-2 acked"])
        #expect(try r.harness.number("SELECT count(*) FROM early_marker") == 0)
        try r.harness.perform { step in
            for number in 0..<1500 { try Markers(step: step).received(for: "x\(number)", from: R.romeo) }
            try Markers(step: step).received(for: String(repeating: "x", count: 2000), from: R.romeo)
        }
        #expect(try r.harness.number("SELECT count(*) FROM early_marker") == 1000)
    }

    @Test("an own message to a room is not displayed by a marker in private")
    func room() throws {
        let r = try R()
        let ids = try send(r, ["one"])
        try r.harness.database.run("UPDATE message SET type = 'groupchat'")
        try r.harness.receive(R.marker(for: ids[0]))
        #expect(try r.harness.text("SELECT state FROM message WHERE shown = 1") == "acked")
    }
}

extension ReadingHarness {
    static let markerNamespace = "urn:xmpp:chat-markers:0"
}
