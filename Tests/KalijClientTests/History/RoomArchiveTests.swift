import KalijAddress
import KalijXML
import Testing

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// Rules.md, durability 9: ranges of each archive (the account's, each room's). A room's archive is read with the same code as the account's.
struct RoomArchiveTests {
    private static let room = "orchard@muc.example.org"

    private func message(_ body: String, nick: String = "romeo", room: String = Self.room, stamp: String? = nil)
        -> String
    {
        """
        <message from='\(room)/\(nick)' to='juliet@example.org/balcony' type='groupchat' id='m-\(body)'>\
        <body>\(body)</body>\
        \(stamp.map { "<stanza-id xmlns='urn:xmpp:sid:0' by='\(room)' id='\($0)'/>" } ?? "")</message>
        """
    }

    private func read(_ harness: StepHarness) throws {
        _ = try harness.runner.run("application", for: harness.account) { try $0.readArchive(of: try JID(Self.room)) }
    }

    /// A harness that is reading the room's archive.
    private func reading() throws -> StepHarness {
        let harness = try StepHarness.read(1)
        try read(harness)
        try answer(harness, feature: "urn:xmpp:mam:2")
        return harness
    }

    @discardableResult
    private func answer(_ harness: StepHarness, feature: String) throws -> Step.Effects {
        let id = try #require(try harness.questions("room").last)
        return try harness.receive(
            """
            <iq type='result' from='\(Self.room)' id='\(id)'><query xmlns='http://jabber.org/protocol/disco#info'>\
            <feature var='\(feature)'/></query></iq>
            """)
    }

    @Test("the room is asked, and its archive has ranges of its own; messages are stored with it as their archive")
    func ranges() throws {
        let harness = try reading()
        #expect(try harness.lastPage()["to"] == Self.room)
        for id in ["r1", "r2"] { try harness.receive(try harness.result(id, room: Self.room, xml: message(id))) }
        #expect(try harness.fin("page", last: "r2", complete: true, from: Self.room).told == ["room \(Self.room)"])
        #expect(try harness.ranges(Self.room) == ["r1...r2"])
        #expect(try harness.ranges() == ["a1...a1"])
        #expect(
            try harness.number("SELECT count(*) FROM message WHERE archive = '\(Self.room)' AND type = 'groupchat'")
                == 2)
        #expect(try harness.shown(with: Self.room) == ["[not fetched]", "[not fetched]", "r1", "r2"])
        // The next reading begins at the end of the last reading.
        try read(harness)
        try answer(harness, feature: "urn:xmpp:mam:2")
        #expect(try harness.asked() == ["after r1"])
    }

    @Test("a room's clock is not asked: what a reading has shown is complete in the reading a minute later")
    func quiet() throws {
        let harness = try reading()
        func again() throws -> [String] {
            try read(harness)
            try answer(harness, feature: "urn:xmpp:mam:2")
            return try harness.asked()
        }
        func show(_ ids: String...) throws {
            for id in ids { try harness.receive(try harness.result(id, room: Self.room, xml: message(id))) }
            try harness.fin("page", last: ids.last, complete: true, from: Self.room)
        }
        try show("r1", "r2", "r3")
        #expect(try again() == ["after r1"])
        try show("r2", "r3")
        harness.clock.move(by: 60_000)
        #expect(try again() == ["after r1"])
        try show("r2", "r3")
        #expect(try again() == ["after r3"])
    }

    @Test(
        "a result counts only from the room",
        arguments: ["juliet@example.org", "mallory@muc.example.org", "orchard@muc.example.org/romeo"])
    func sender(_ from: String) throws {
        let harness = try reading()
        let result = try harness.result("r1", room: Self.room, xml: message("r1"))
        try harness.receive(result.replacing("<message from='\(Self.room)'>", with: "<message from='\(from)'>"))
        #expect(try harness.number("SELECT count(*) FROM message WHERE archive <> ''") == 0)
        // The same holds for an answer.
        try harness.fin("page", last: "r1", complete: true, from: from)
        #expect(try harness.questions("page").count == 1)
    }

    @Test("a room's live message is recognized in the archive, by the stanza-id that the room stamps")
    func live() throws {
        let harness = try reading()
        try harness.receive(message("two", stamp: "r2"))
        for id in ["r1", "r2"] {
            try harness.receive(try harness.result(id, room: Self.room, xml: message(id == "r1" ? "one" : "two")))
        }
        try harness.fin("page", last: "r2", complete: true, from: Self.room)
        #expect(try harness.history() == ["in a1", "in one", "in two"])
    }

    @Test("a room's stanza-id counts only after disco has shown the room's archive, and only by the room itself")
    func untrusted() throws {
        let harness = try StepHarness.read(1)
        try harness.receive(message("one", stamp: "r1"))
        #expect(try harness.number("SELECT count(*) FROM message WHERE stanza_id = 'r1'") == 0)
        let trusting = try reading()
        try trusting.receive(
            message("two").replacing(
                "</message>", with: "<stanza-id xmlns='urn:xmpp:sid:0' by='juliet@example.org' id='forged'/></message>")
        )
        try trusting.receive(message("three", room: "other@muc.example.org", stamp: "o1"))
        #expect(try trusting.number("SELECT count(*) FROM message WHERE stanza_id IN ('forged', 'o1')") == 0)
    }

    @Test("the same id in the archives of two rooms, or of the account, is no duplicate")
    func sameID() throws {
        let harness = try reading()
        try harness.receive(try harness.result("a1", room: Self.room, xml: message("a1")))
        #expect(try harness.history() == ["in a1", "in a1"])
    }

    @Test("a copy of a message accepted here finds its row, once; another occupant cannot take the row over")
    func own() throws {
        let harness = try reading()
        let id = try #require(try harness.accept("mine", to: Self.room).originID)
        // A feature for rooms accepts messages of this type.
        try harness.database.run("UPDATE message SET type = 'groupchat' WHERE body = 'mine'")
        let copy = "<message from='\(Self.room)/juliet' type='groupchat' id='\(id)'><body>mine</body></message>"
        #expect(try harness.receive(try harness.result("r1", room: Self.room, xml: copy)).told == ["mine is delivered"])
        let other = copy.replacing("/juliet", with: "/mallory").replacing("<body>mine", with: "<body>forged")
        #expect(try harness.receive(try harness.result("r2", room: Self.room, xml: other)).told == ["message forged"])
        try harness.fin("page", last: "r2", complete: true, from: Self.room)
        #expect(try harness.history() == ["in a1", "out mine (delivered)", "in forged"])
    }

    @Test("a room without an archive, or without an answer, is reported")
    func without() throws {
        let harness = try StepHarness.read(1)
        try read(harness)
        #expect(try answer(harness, feature: "urn:example:x").told == ["room \(Self.room): the room has no archive"])
        try read(harness)
        #expect(try harness.letExpire() == ["room \(Self.room): the room does not say whether it has an archive"])
        let reading = try reading()
        #expect(try reading.letExpire() == ["room \(Self.room): the server does not answer"])
    }

    @Test("older history of a room is filled in the same way")
    func older() throws {
        let harness = try reading()
        try harness.receive(try harness.result("r5", room: Self.room, xml: message("r5")))
        try harness.fin("page", last: "r5", complete: true, from: Self.room)
        _ = try harness.runner.run("application", for: harness.account) {
            try $0.fetchHistory(older: 10, of: try JID(Self.room))
        }
        #expect(try harness.lastPage()["to"] == Self.room)
        try harness.receive(try harness.result("r4", of: "filling", room: Self.room, xml: message("r4")))
        try harness.fin("filled", first: "r4", last: "r4", complete: true, from: Self.room)
        #expect(try harness.ranges(Self.room) == ["|r4...r5"])
        #expect(try harness.ranges() == ["a1...a1"])
    }
}
