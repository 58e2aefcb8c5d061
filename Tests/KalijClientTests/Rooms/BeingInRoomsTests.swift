import KalijAddress
import KalijXML
import Testing

@testable import KalijEngine
@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// XEP-0045 section 7, XEP-0410: entering, staying, leaving.
struct BeingInRoomsTests {
    @Test(
        "the room is asked, then entered with a self-ping behind the presence; the outcome is told once the room has told all"
    )
    func entering() throws {
        let room = try RoomHarness()
        #expect(try room.harness.queue() == ["iq get query"])
        try room.describe(RoomHarness.group)
        #expect(try room.harness.queue().suffix(2) == ["presence x", "iq get ping"])
        try room.enter()
        #expect(try room.room.state == "entering" && room.outcome() == .pending)
        try room.subject("Wherefore")
        #expect(try room.room.state == "joined" && room.outcome() == .done)
        #expect(try room.room.subject == "Wherefore" && room.room.name == "Orchard" && room.room.isGroup)
        let occupants = try Rooms(room.harness.database).occupants(
            of: try JID(RoomHarness.room), for: room.harness.account)
        #expect(occupants.map(\.nick) == ["juliet", "romeo"])
        #expect(occupants.map { $0.jid?.description } == ["juliet@example.org", "romeo@example.net"])
    }

    @Test(
        "a nickname that the service rewrites (XEP-0045, 210) is the one that is held, also without an <item/>; the answer to a ping of the wanted one says nothing",
        arguments: ["", "<item affiliation='none' role='participant'/>"])
    func rewritten(item: String) throws {
        let room = try RoomHarness()
        try room.describe(["http://jabber.org/protocol/muc"])
        try room.harness.receive(
            """
            <presence from='\(RoomHarness.room)/bigjuliet'><x xmlns='http://jabber.org/protocol/muc#user'>\(item)\
            <status code='110'/><status code='210'/></x></presence>
            """)
        try room.refuse("rooms.pinged", "not-acceptable", from: RoomHarness.room + "/juliet")
        try room.subject()
        #expect(try room.room.state == "joined" && room.room.nick == "bigjuliet")
        try room.harness.acknowledgeAll()
        room.harness.clock.move(by: 301_000)
        _ = try room.harness.steps.resumed(try room.harness.steps.load().acknowledged)
        let ping =
            "SELECT count(*) FROM queue WHERE CAST(stanza AS TEXT) LIKE '%to=''\(RoomHarness.room)/bigjuliet''%ping%'"
        #expect(try room.harness.number(ping) == 1)
        try room.refuse("rooms.pinged", "not-acceptable", from: RoomHarness.room + "/bigjuliet")
        #expect(try room.room.state == "asking")
    }

    @Test("presence asks for no history where there is an archive, and always says that it joins")
    func presence() throws {
        let room = try RoomHarness()
        try room.describe(RoomHarness.group + ["urn:xmpp:mam:2"])
        let sent = try #require(
            try room.harness.text(
                "SELECT CAST(stanza AS TEXT) FROM queue WHERE CAST(stanza AS TEXT) LIKE '<presence to%'"))
        let x = try #require(try Element.parse(StepHarness.inClient(sent)).child("x", "http://jabber.org/protocol/muc"))
        #expect(x.child("history")?["maxchars"] == "0")
    }

    @Test("without a session the room is entered after the next bind; a resume joins nothing")
    func sessions() throws {
        let room = try RoomHarness.joined()
        _ = try room.harness.steps.resumed(try room.harness.steps.load().acknowledged)
        #expect(try room.room.state == "joined" && !room.harness.queue().contains("presence x"))
        try room.harness.bind(resumeID: "session-2", answered: .all)
        #expect(try room.room.state == "waiting")
        #expect(
            try Rooms(room.harness.database).occupants(of: try JID(RoomHarness.room), for: room.harness.account) == [])
        try room.harness.answerFeatures(archive: true)
        for _ in 0..<2 { try room.harness.answerPage(complete: true) }
        #expect(try room.room.state == "asking")
    }

    @Test("an archive switched on later, as in a new group, is read at once, and from then on the room's ids count")
    func laterArchive() throws {
        let room = try RoomHarness.joined(archive: false)
        try room.harness.receive(
            """
            <message from='\(RoomHarness.room)' type='groupchat'><x xmlns='http://jabber.org/protocol/muc#user'>\
            <status code='104'/></x></message>
            """)
        try room.describe(RoomHarness.group + ["urn:xmpp:mam:2"])
        try room.readToEnd([("r1", "meanwhile")])
        try room.say("after", stamp: "r2")
        let ids = try room.harness.database.prepare(
            "SELECT body || ' ' || stanza_id FROM message WHERE body IS NOT NULL ORDER BY id"
        ).all { $0.text() }
        #expect(ids == ["meanwhile r1", "after r2"])
    }

    @Test("a room without moderation is told as such, whatever is known of the message")
    func noModeration() throws {
        let room = try RoomHarness.joined(archive: false)
        try room.say("spam")
        let spam = try #require(try room.harness.text("SELECT CAST(id AS TEXT) FROM message WHERE body = 'spam'"))
        let outcome = try room.perform(Moderate(try JID(RoomHarness.room), MessageReference(spam)), id: "moderate")
        #expect(outcome == .failed("\(RoomHarness.room) has no moderation"))
    }

    @Test("after five minutes without a connection the room is asked whether it still knows the account")
    func longOffline() throws {
        let room = try RoomHarness.joined()
        room.harness.clock.move(by: 299_000)
        _ = try room.harness.steps.resumed(try room.harness.steps.load().acknowledged)
        #expect(try room.room.state == "joined")
        room.harness.clock.move(by: 301_000)
        _ = try room.harness.steps.resumed(try room.harness.steps.load().acknowledged)
        #expect(try room.room.state == "doubtful")
        try room.refuse("rooms.pinged", "not-acceptable", from: RoomHarness.room + "/juliet")
        #expect(try room.room.state == "asking")
    }

    @Test(
        "a room that answers a ping with item-not-found is asked whether it exists: ejabberd says so of rooms that are gone"
    )
    func forgotten() throws {
        for (exists, state) in [(true, "joined"), (false, "asking")] {
            let room = try RoomHarness.joined()
            room.harness.clock.move(by: 301_000)
            _ = try room.harness.steps.resumed(try room.harness.steps.load().acknowledged)
            try room.refuse("rooms.pinged", "item-not-found", from: RoomHarness.room + "/juliet")
            if exists {
                let id = try #require(try room.harness.waiting("rooms.there").last)
                try room.harness.receive(
                    "<iq type='result' from='\(RoomHarness.room)' id='\(id)'><query xmlns='\(RoomHarness.items)'/></iq>"
                )
            } else {
                try room.refuse("rooms.there", "item-not-found")
            }
            #expect(try room.room.state == state)
        }
    }

    @Test("the account's own unavailable presence ends the stay, also without the status 110; only its address decides")
    func removed() throws {
        for (statuses, content, state) in [
            ([307, 110], "", "refused"), ([307, 333, 110], "", "waiting"), ([332], "", "waiting"),
            ([], "<destroy jid='other@muc.example.org'><reason>moved</reason></destroy>", "gone"),
        ] {
            let room = try RoomHarness.joined()
            try room.presence("romeo", statuses.filter { $0 != 110 }, type: "unavailable")
            #expect(try room.room.state == "joined")
            try room.presence("juliet", statuses, type: "unavailable", content: content)
            #expect(try room.room.state == state)
            #expect(try room.room.successor == (state == "gone" ? "other@muc.example.org" : nil))
        }
    }

    @Test("another nickname keeps the stay: the account's, and another's")
    func renamed() throws {
        let room = try RoomHarness.joined()
        try room.presence("romeo", [303], type: "unavailable", item: " nick='montague'")
        try room.presence("montague")
        try room.presence("juliet", [303, 110], type: "unavailable", item: " nick='capulet'")
        try room.presence("capulet", [110])
        #expect(try room.room.state == "joined" && room.room.nick == "capulet")
        let occupants = try Rooms(room.harness.database).occupants(
            of: try JID(RoomHarness.room), for: room.harness.account)
        #expect(occupants.map(\.nick) == ["capulet", "montague"])
    }

    @Test("a room that was made by joining is left at once; a foreign room's presence changes nothing")
    func made() throws {
        let room = try RoomHarness()
        try room.describe(RoomHarness.group)
        try room.harness.receive(
            """
            <presence from='other@muc.example.org/juliet'><x xmlns='http://jabber.org/protocol/muc#user'>\
            <item affiliation='owner' role='moderator'/><status code='110'/></x></presence>
            """)
        #expect(try room.room.state == "joining")
        try room.enter([110, 201])
        #expect(try room.room.state == "absent")
        #expect(try room.harness.queue().last == "presence unavailable")
        #expect(try room.outcome() == .failed("there is no such room"))
    }

    @Test("an open room that shows addresses is entered with consent only")
    func consent() throws {
        let room = try RoomHarness()
        try room.describe(["muc_nonanonymous"])
        #expect(try room.room.state == "refused")
        try room.perform(JoinRoom(try JID(RoomHarness.room), showAddress: true), id: "again")
        try room.describe(["muc_nonanonymous"])
        #expect(try room.room.state == "joining")
    }

    @Test("leaving tells the room, and is final; the messages stay")
    func leaving() throws {
        let room = try RoomHarness.joined()
        try room.say("hello", stamp: "r1")
        #expect(try room.perform(LeaveRoom(try JID(RoomHarness.room)), id: "leave") == .done)
        #expect(try room.harness.queue().last == "presence unavailable")
        try room.say("too late", stamp: "r2")
        #expect(try room.harness.history().suffix(1) == ["in hello"])
        try room.harness.bind(resumeID: "session-2", answered: .all)
        #expect(try room.room.state == "left")
    }

    @Test("whoever is in the room sees the account online, and gets answers; nobody else does")
    func visible() throws {
        let room = try RoomHarness.joined()
        try room.harness.receive(
            "<iq type='get' id='p' from='\(RoomHarness.room)/romeo'><ping xmlns='urn:xmpp:ping'/></iq>")
        #expect(try room.harness.queue().last == "iq result")
        try room.harness.receive(
            "<iq type='get' id='p' from='other@muc.example.org/romeo'><ping xmlns='urn:xmpp:ping'/></iq>")
        #expect(try room.harness.queue().last == "iq error ping" || room.harness.queue().last == "iq error error")
    }
}
