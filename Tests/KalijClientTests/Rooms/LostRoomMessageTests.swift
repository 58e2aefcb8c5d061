import KalijAddress
import KalijXML
import Testing

@testable import KalijEngine
@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// Messages to a room whose outcome is unknown: they are looked for, and sent once more only if they have not arrived.
struct LostRoomMessageTests {
    @Test("after a lost session a message that the archive does not have is sent again, and newer ones wait behind it")
    func lostSession() throws {
        let room = try RoomHarness.joined()
        try room.say("before", stamp: "r1")
        try room.accept("one")
        try room.accept("two")
        try room.send()
        try room.bindAnew()
        try room.accept("three")
        #expect(try room.queued() == [])
        // The archive has the first of the two.
        let id = try room.id(of: "one")
        let xml = "<message from='\(RoomHarness.room)/juliet' type='groupchat' id='\(id)'><body>one</body></message>"
        let before =
            "<message from='\(RoomHarness.room)/romeo' type='groupchat' id='before'><body>before</body></message>"
        try room.harness.receive(try room.harness.result("r1", room: RoomHarness.room, xml: before))
        try room.harness.receive(try room.harness.result("r2", room: RoomHarness.room, xml: xml))
        try room.harness.fin("page", first: "r1", last: "r2", complete: true, from: RoomHarness.room)
        #expect(try room.queued() == ["two", "three"])
        #expect(try room.harness.history().contains("out one (delivered)"))
    }

    @Test("an archive that shows nothing older proves nothing: the outcome is unknown, and nothing is sent twice")
    func unproven() throws {
        let room = try RoomHarness.joined()
        try room.say("before", stamp: "r1")
        try room.accept("one")
        try room.send()
        try room.bindAnew()
        try room.readToEnd([("r9", "much later")])
        #expect(try room.queued() == [])
        #expect(try room.harness.history().contains("out one (acked) unsettled"))
    }

    @Test("in a new room nothing is older: an archive without the message proves that the message has not arrived")
    func newRoom() throws {
        let room = try RoomHarness.joined()
        try room.accept("one")
        try room.send()
        try room.bindAnew()
        try room.readToEnd()
        #expect(try room.queued() == ["one"])
    }

    @Test("a new room's first message and a later one are lost: read from the start, both are sent again")
    func lostWithTheFirst() throws {
        let room = try RoomHarness.joined()
        try room.accept("first")
        try room.send()
        for number in 1...9 { try room.say("talk \(number)", stamp: "r\(number)") }
        try room.accept("later")
        try room.send()
        try room.say("after", stamp: "r10")
        try room.pass(31_000)
        try room.pong()
        let query = try room.harness.request(try #require(try room.harness.waiting("catch-up.page").last))
        let page = query.child("query", "urn:xmpp:mam:2")?.child("set", "http://jabber.org/protocol/rsm")
        #expect(page?.child("after") == nil)
        try room.readToEnd((1...10).map { ("r\($0)", "talk \($0)") })
        #expect(try room.queued() == ["first", "later"])
    }

    @Test("the newest message known at the sending is returned, however much came from others since the one before it")
    func beforeTheAnchor() throws {
        let room = try RoomHarness.joined()
        for number in 1...3 {
            try room.pass(61_000)
            try room.bindAnew()
            try room.readToEnd(number < 3 ? [("r\(number)", "talk \(number)")] : [("r2", "talk 2")])
            for number in (100 * number)..<(100 * number + 60) {
                try room.harness.receive(ArchiveSyncTests.live("a\(number)", archive: "a\(number)"))
            }
        }
        try room.accept("lost")
        try room.send()
        try room.bindAnew()
        let query = try room.harness.request(try #require(try room.harness.waiting("catch-up.page").last))
        let page = query.child("query", "urn:xmpp:mam:2")?.child("set", "http://jabber.org/protocol/rsm")
        #expect(page?.child("after")?.text == "r1")
        try room.readToEnd([("r2", "talk 2")])
        #expect(try room.queued() == ["lost"])
    }

    @Test("a message that is lost a second time is looked for again")
    func lostTwice() throws {
        let room = try RoomHarness.joined()
        try room.say("before", stamp: "r1")
        try room.accept("lost")
        for _ in 1...2 {
            try room.send()
            try room.pass(31_000)
            #expect(try room.room.state == "doubtful")
            try room.pong()
            try room.readToEnd([("r1", "before")])
            #expect(try room.queued() == ["lost"])
        }
    }

    @Test(
        "a message that the room takes and never shows leaves ten times; then its outcome is unknown, and newer ones leave"
    )
    func neverShown() throws {
        let room = try RoomHarness.joined()
        try room.say("before", stamp: "r1")
        try room.accept("swallowed")
        var sent = 0
        while try room.queued() == ["swallowed"], sent < 20 {
            try room.send()
            sent += 1
            try room.pass(31_000)
            try room.pong()
            try room.readToEnd([("r1", "before")])
        }
        #expect(sent == 10)
        #expect(try room.harness.history().contains("out swallowed (acked) unsettled"))
        #expect(try room.harness.number("SELECT count(*) FROM room_message") == 0)
        try room.accept("newer")
        #expect(try room.queued() == ["newer"])
    }

    @Test("a message that a server on the way sends back each time leaves ten times")
    func sentBackForEver() throws {
        let room = try RoomHarness.joined()
        try room.say("before", stamp: "r1")
        try room.accept("returned")
        var sent = 0
        while try room.queued() == ["returned"], sent < 20 {
            try room.send()
            sent += 1
            try room.refuse(message: "returned", "remote-server-not-found", type: "cancel")
            try room.pass(31_000)
            try room.readToEnd([("r1", "before")])
        }
        #expect(sent == 10)
        #expect(try room.harness.history().contains("out returned (acked) unsettled"))
    }

    @Test(
        "a message that left and is not in the server's count waits for the archive after a resume; one that never left does not"
    )
    func resumed() throws {
        let room = try RoomHarness.joined()
        try room.say("before", stamp: "r1")
        try room.accept("left")
        try room.harness.write()
        try room.accept("new")
        _ = try room.harness.steps.resumed(try room.harness.steps.load().acknowledged)
        #expect(try room.queued() == [])
        try room.readToEnd([("r1", "before")])
        #expect(try room.queued() == ["left", "new"])
    }

    @Test("a message that does not come back is looked for after a self-ping: lost between servers, and sent once more")
    func lostBetweenServers() throws {
        let room = try RoomHarness.joined()
        try room.say("before", stamp: "r1")
        try room.accept("lost")
        try room.send()
        try room.pass(31_000)
        #expect(try room.room.state == "doubtful")
        try room.pong()
        try room.readToEnd([("r1", "before")])
        #expect(try room.queued() == ["lost"])
    }

    @Test("what left after a lost message and was not shown either is looked for as well: nothing overtakes a message")
    func lostTogether() throws {
        let room = try RoomHarness.joined()
        try room.say("before", stamp: "r1")
        try room.accept("lost")
        try room.send()
        room.harness.clock.move(by: 20_000)
        try room.accept("younger")
        try room.send()
        try room.pass(11_000)
        try room.accept("newest")
        try room.pong()
        try room.readToEnd([("r1", "before")])
        #expect(try room.queued() == ["lost", "younger", "newest"])
    }

    @Test("what a server on the way sends back is looked for in the archive later; newer messages wait behind it")
    func sentBack() throws {
        let room = try RoomHarness.joined()
        try room.say("before", stamp: "r1")
        try room.accept("one")
        try room.accept("two")
        try room.send()
        try room.refuse(message: "one", "remote-server-not-found", type: "cancel")
        try room.accept("three")
        #expect(try room.queued() == [])
        try room.pass(31_000)
        try room.readToEnd([("r1", "before")])
        #expect(try room.queued() == ["one", "two", "three"])
    }

    @Test("what left before the room was joined again waits for the archive before a refused message is sent again")
    func joinedAgain() throws {
        let room = try RoomHarness.joined()
        try room.say("before", stamp: "r1")
        try room.accept("lost")
        try room.accept("refused")
        try room.send()
        try room.refuse(message: "refused", "not-acceptable")
        try room.describe(RoomHarness.group + ["urn:xmpp:mam:2"])
        try room.enter()
        try room.subject()
        #expect(try room.queued() == [])
        try room.readToEnd([("r1", "before")])
        #expect(try room.queued() == ["lost", "refused"])
    }

    @Test("however many messages are on their way, a timer looks for them, each after its own 30 s")
    func looking() throws {
        let room = try RoomHarness.joined()
        try room.say("before", stamp: "r1")
        for number in 1...50 {
            try room.accept("m\(number)")
            try room.send()
            room.harness.clock.move(by: 100)
        }
        let timers = "SELECT count(*) FROM timer WHERE name = 'rooms.unreflected'"
        #expect(try room.harness.number(timers) == 1)
        for number in 1...49 {
            try room.say("m\(number)", as: "juliet", id: try room.id(of: "m\(number)"), stamp: "s\(number)")
        }
        try room.pass(26_000)
        #expect(try room.room.state == "joined", "the last message has left 26 s ago")
        #expect(try room.harness.number(timers) == 1)
        try room.pass(4_100)
        #expect(try room.room.state == "doubtful")
        #expect(try room.harness.number(timers) == 0)
    }

    @Test("what a lost connection between servers had not acknowledged comes back: nothing has failed")
    func sentBackByStreamManagement() throws {
        let room = try RoomHarness.joined()
        try room.accept("one")
        try room.send()
        try room.refuse(message: "one", "recipient-unavailable", type: "cancel")
        #expect(try room.harness.history().last == "out one (acked)")
    }

    @Test("what the room has shown, and what nobody looks for any more, does not fail when a server sends it back")
    func sentBackLate() throws {
        for condition in ["remote-server-not-found", "forbidden"] {
            let room = try RoomHarness.joined()
            try room.accept("one")
            try room.send()
            try room.say("one", as: "juliet", id: try room.id(of: "one"), stamp: "s1")
            try room.refuse(message: "one", condition, type: "cancel")
            #expect(try room.harness.history().last == "out one (delivered)")
        }
        let room = try RoomHarness.joined(archive: false)
        try room.accept("two")
        try room.send()
        try room.bindAnew(features: RoomHarness.group)
        try room.refuse(message: "two", "remote-server-timeout", type: "wait")
        #expect(try room.harness.history().last == "out two (acked) unsettled")
    }
}
