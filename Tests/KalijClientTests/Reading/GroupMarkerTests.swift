import KalijAddress
import KalijStore
import KalijXML
import Testing

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// XEP-0333, "Usage within MUC".
struct GroupMarkerTests {
    private static let room = RoomHarness.room
    private static let features = RoomHarness.group + ["urn:xmpp:mam:2"]

    /// In a group of Juliet, Romeo and Mercutio.
    private func group(_ features: [String] = RoomHarness.group, members: Int = 2) throws -> RoomHarness {
        let room = try RoomHarness.joined(features: features)
        try room.presence("mercutio", jid: "mercutio@example.net/street")
        guard features == RoomHarness.group else { return room }
        let others = ["romeo@example.net", "mercutio@example.net"] + (2..<max(members, 2)).map { "m\($0)@example.net" }
        try room.list(["juliet@example.org"] + others)
        for _ in 0..<2 { try room.list() }
        return room
    }

    private func read(_ room: RoomHarness, through id: String? = nil, name: String = "read") throws -> IntentOutcome {
        try room.perform(MarkRead(try JID(Self.room), through: id.map { .id($0) }), id: name)
    }

    /// The markers in the queue, as `type id`.
    private func markers(_ room: RoomHarness) throws -> [String] {
        try room.harness.write().map { try Element.parse($0.stanza) }.compactMap { stanza in
            guard let marker = stanza.child("displayed", "urn:xmpp:chat-markers:0") else { return nil }
            #expect(stanza["to"] == Self.room && stanza.child("store", "urn:xmpp:hints") != nil)
            return "\(stanza["type"] ?? "-") \(marker["id"] ?? "-")"
        }
    }

    private func mark(_ room: RoomHarness, _ id: String, by nick: String, stamp: String = "s") throws {
        try room.message(
            "<displayed xmlns='urn:xmpp:chat-markers:0' id='\(id)'/>", as: nick, id: "k\(id)\(nick)", stamp: stamp)
    }

    /// The room reflects the message accepted with the text `body` under an archive's id.
    private func reflect(_ room: RoomHarness, _ body: String, _ stamp: String) throws {
        try room.say(body, as: "juliet", id: room.id(of: body), stamp: stamp)
    }

    /// The user's messages: text, state, and who has read it.
    private func own(_ room: RoomHarness) throws -> [String] {
        try HistoryReader(room.harness.database)
            .messages(of: room.harness.account, with: try JID(Self.room), limit: 100)
            .filter { $0.direction == .outgoing }
            .map { message in
                let readers = message.reading?.readers.map { String($0.description.prefix { $0 != "@" }) } ?? []
                return ([message.body ?? "-", message.state?.rawValue ?? "-"] + readers).joined(separator: " ")
            }
    }

    @Test("in a group the newest message gets a marker by the room's id, whether it asks for one or not")
    func sent() throws {
        let room = try group()
        try room.say("one", id: "m1", stamp: "r1")
        try room.say("two", id: "m2", stamp: "r2")
        #expect(try read(room) == .pending)
        #expect(try markers(room) == ["groupchat r2"])
        #expect(try read(room, name: "again") == .done)
        #expect(try markers(room) == ["groupchat r2"], "nothing new was read")
        #expect(try room.harness.history() == ["in one", "in two"])
    }

    @Test("the reflection of the marker ends the intent, and is no message")
    func reflected() throws {
        let room = try group()
        try room.say("one", id: "m1", stamp: "r1")
        #expect(try read(room) == .pending)
        let stanza = try Element.parse(try #require(try room.harness.write().last { $0.groupchat != nil }).stanza)
        let id = try #require(stanza["id"])
        try room.send()
        try room.message(
            "<displayed xmlns='urn:xmpp:chat-markers:0' id='r1'/>", as: "juliet", id: id, stamp: "r2")
        #expect(try room.outcome("read") == .done)
        #expect(try room.harness.number("SELECT count(*) FROM room_message") == 0)
        #expect(try room.harness.history() == ["in one"])
    }

    @Test(
        "neither a channel nor a large group gets markers, nor a group for which the user has turned them off",
        arguments: ["channel", "large", "off"])
    func silent(_ kind: String) throws {
        let features = kind == "channel" ? ["http://jabber.org/protocol/muc"] : RoomHarness.group
        let room = try group(features, members: kind == "large" ? 101 : 2)
        if kind == "off" {
            var settings = ChangeSettings(for: try JID(Self.room))
            settings.markers = false
            try room.perform(settings, id: "settings")
        }
        try room.say("one", id: "m1", stamp: "r1")
        #expect(try read(room) == .done)
        #expect(try markers(room) == [])
    }

    @Test("a text to a group asks for markers; one to a channel does not", arguments: [true, false])
    func asks(_ isGroup: Bool) throws {
        let room = try group(isGroup ? RoomHarness.group : ["http://jabber.org/protocol/muc"])
        try room.accept("Hi")
        let stanza = try #require(try room.harness.write().map { try Element.parse($0.stanza) }.last)
        #expect((stanza.child("markable", "urn:xmpp:chat-markers:0") != nil) == isGroup)
    }

    @Test("who has read is known by address; when all have, the message is displayed, and stays so when somebody joins")
    func readers() throws {
        let room = try group()
        for (body, stamp) in [("one", "r1"), ("two", "r2")] {
            try room.accept(body)
            try room.send()
            try reflect(room, body, stamp)
        }
        #expect(try own(room) == ["one delivered", "two delivered"])
        try mark(room, "r2", by: "romeo")
        #expect(try own(room) == ["one delivered romeo", "two delivered romeo"])
        try mark(room, "r1", by: "mercutio")
        #expect(try own(room) == ["one displayed mercutio romeo", "two delivered romeo"])
        try mark(room, "r1", by: "romeo", stamp: "s2")
        #expect(try own(room) == ["one displayed mercutio romeo", "two delivered romeo"], "markers only move forward")
        try mark(room, "r2", by: "mercutio")
        #expect(try own(room) == ["one displayed mercutio romeo", "two displayed mercutio romeo"])
        try room.presence("tybalt", jid: "tybalt@example.net/x")
        #expect(try own(room) == ["one displayed mercutio romeo", "two displayed mercutio romeo"])
        #expect(try room.harness.number("SELECT count(*) FROM message WHERE shown = 1") == 2, "a marker is no message")
    }

    @Test("a marker of somebody who is no member, of a nickname without an address, or in a channel counts for nothing")
    func strangers() throws {
        let room = try group()
        try room.accept("one")
        try room.send()
        try reflect(room, "one", "r1")
        try mark(room, "r1", by: "nobody")
        #expect(try own(room) == ["one delivered"])
        #expect(try room.harness.number("SELECT count(*) FROM displayed_by_member") == 0)
        let channel = try group(["http://jabber.org/protocol/muc"])
        try channel.accept("one")
        try channel.send()
        try reflect(channel, "one", "r1")
        try mark(channel, "r1", by: "romeo")
        #expect(try own(channel) == ["one delivered"])
    }

    @Test("a marker for a message that is not here counts once the message is; the last of each member is kept")
    func early() throws {
        let room = try group()
        for id in ["r7", "r8", "r9"] { try mark(room, id, by: "romeo") }
        #expect(try room.harness.number("SELECT count(*) FROM early_group_marker") == 1)
        try room.say("one", as: "juliet", id: "phone-1", stamp: "r9")
        #expect(try own(room) == ["one delivered romeo"])
        #expect(try room.harness.number("SELECT count(*) FROM early_group_marker") == 0)
    }

    @Test("a marker of another device of the account moves the displayed place, and this device sends none")
    func ownDevice() throws {
        let room = try group()
        try room.say("one", id: "m1", stamp: "r1")
        try room.say("two", id: "m2", stamp: "r2")
        let conversation = Self.room
        #expect(try DisplayedPlaces.unread(in: conversation, of: 1, in: room.harness.database) == 2)
        try mark(room, "r2", by: "juliet")
        #expect(try DisplayedPlaces.unread(in: conversation, of: 1, in: room.harness.database) == 0)
        #expect(try read(room) == .done)
        #expect(try markers(room) == [])
    }

    @Test("a room that invents markers of the account has nothing read again")
    func invented() throws {
        let room = try group()
        try room.harness.acknowledgeAll()
        let requests = "SELECT count(*) FROM request"
        let before = try room.harness.number(requests)
        for number in 0..<20 { try mark(room, "none-\(number)", by: "juliet") }
        #expect(try room.harness.number(requests) == before)
        #expect(try room.harness.number("SELECT count(*) FROM early_displayed") ?? 0 <= 10)
    }

    @Test("while the group's archive is read, the marker waits for its end")
    func waits() throws {
        let room = try group()
        try room.enterAnew(Self.features)
        try room.subject()
        try room.say("two", id: "m2", stamp: "r2")
        #expect(try read(room) == .done)
        #expect(try markers(room) == [])
        try room.readToEnd([("r1", "one"), ("r2", "two")])
        #expect(try markers(room) == ["groupchat r2"])
    }
}
