import KalijAddress
import KalijXML
import Testing

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// What is said in a room, exactly once.
struct RoomMessageTests {
    @Test(
        "a message leaves only while the account is in the room, in order; it is delivered when the room has shown it")
    func delivered() throws {
        let room = try RoomHarness()
        try room.accept("one")
        try room.accept("two")
        #expect(try room.queued() == [])
        try room.describe(RoomHarness.group)
        try room.enter()
        try room.subject()
        #expect(try room.queued() == ["one", "two"])
        try room.send()
        #expect(try room.harness.history().suffix(2) == ["out one (acked)", "out two (acked)"])
        try room.say("one", as: "juliet", id: try room.id(of: "one"), stamp: "r1")
        #expect(try room.harness.history().suffix(2) == ["out one (delivered)", "out two (acked)"])
        #expect(try room.harness.number("SELECT count(*) FROM room_message") == 1)
    }

    @Test("only the account itself reflects: an id repeated by another occupant settles nothing")
    func forgedReflection() throws {
        let room = try RoomHarness.joined()
        try room.accept("mine")
        try room.send()
        try room.say("mine", as: "mallory", id: try room.id(of: "mine"), stamp: "r1")
        #expect(try room.harness.history().suffix(2) == ["out mine (acked)", "in mine"])
    }

    @Test("messages of the account's other clients are its own")
    func otherClient() throws {
        let room = try RoomHarness.joined(notifies: true)
        try room.say("from the phone", as: "juliet", stamp: "r1")
        #expect(try room.harness.history().suffix(1) == ["out from the phone (delivered)"])
        #expect(try room.harness.number("SELECT count(*) FROM notification") == 0)
    }

    @Test("a copy in the archive of a message that the room has shown is no second message")
    func shownTwice() throws {
        let room = try RoomHarness.joined()
        try room.accept("one")
        try room.send()
        try room.say("one", as: "juliet", id: try room.id(of: "one"), stamp: "r1")
        try room.bindAnew()
        let id = try room.id(of: "one")
        try room.harness.receive(
            try room.harness.result(
                "r1", room: RoomHarness.room,
                xml: "<message from='\(RoomHarness.room)/juliet' type='groupchat' id='\(id)'><body>one</body></message>"
            ))
        try room.harness.fin("page", first: "r1", last: "r1", complete: true, from: RoomHarness.room)
        #expect(try room.harness.history().filter { $0.contains("one") } == ["out one (delivered)"])
    }

    @Test("a room that does not know the sender is joined again, and the message sent again, three times at most")
    func notAcceptable() throws {
        let room = try RoomHarness.joined()
        try room.accept("one")
        for attempt in 1...3 {
            #expect(try room.queued() == ["one"])
            try room.send()
            try room.refuse(message: "one", "not-acceptable")
            guard attempt < 3 else { break }
            #expect(try room.room.state == "asking")
            try room.describe(RoomHarness.group)
            try room.enter()
            try room.subject()
        }
        #expect(try room.harness.history().last == "out one (failed)")
    }

    @Test("an error of the room fails the message; an error of a server on the way decides nothing")
    func errors() throws {
        let room = try RoomHarness.joined()
        try room.accept("one")
        try room.accept("two")
        try room.send()
        try room.refuse(message: "one", "forbidden", type: "auth")
        try room.refuse(message: "two", "remote-server-timeout", type: "wait")
        #expect(try room.harness.history().suffix(2) == ["out one (failed)", "out two (acked)"])
    }

    @Test("a room that is not there any more is noticed at the next message, and not made anew")
    func forgotten() throws {
        let room = try RoomHarness.joined()
        try room.accept("one")
        try room.send()
        try room.refuse(message: "one", "item-not-found", type: "cancel")
        #expect(try room.harness.history().last == "out one (failed)")
        #expect(try room.room.state == "asking")
        try room.refuse("rooms.described", "item-not-found")
        #expect(try room.room.state == "absent")
    }

    @Test("without an archive the room's history proves, if it goes back to a known message")
    func withoutArchive() throws {
        for overlaps in [true, false] {
            let room = try RoomHarness.joined(archive: false)
            try room.say("before")
            try room.accept("one")
            try room.send()
            try room.enterAnew(RoomHarness.group)
            let delay = "<delay xmlns='urn:xmpp:delay' from='\(RoomHarness.room)' stamp='2026-11-21T12:00:00Z'/>"
            if overlaps { try room.say("before", delay: delay) }
            try room.say("meanwhile", delay: delay)
            try room.subject()
            #expect(try room.queued() == (overlaps ? ["one"] : []))
            #expect(
                try room.harness.history().suffix(3).sorted()
                    == [
                        "in before", "in meanwhile", overlaps ? "out one (acked)" : "out one (acked) unsettled",
                    ])
        }
    }

    @Test("a gateway drops ids: the reflection is known by nickname and text, oldest first")
    func gateway() throws {
        let room = try RoomHarness.joined()
        try room.accept("same")
        try room.accept("same")
        try room.send()
        try room.harness.receive(
            "<message from='\(RoomHarness.room)/juliet' type='groupchat'><body>same</body></message>")
        #expect(try room.harness.history().suffix(2) == ["out same (delivered)", "out same (acked)"])
    }

    @Test("in groups all messages notify, in channels mentions; not what is from before the account was there")
    func notifications() throws {
        for (features, expected) in [(RoomHarness.group, 2), ([], 1)] as [([String], Int64)] {
            let room = try RoomHarness.joined(features: features, notifies: true)
            try room.say("hello", stamp: "r1")
            try room.say("Juliet, hello", stamp: "r2")
            #expect(try room.harness.number("SELECT count(*) FROM notification") == expected)
        }
    }

    @Test("a message to a channel has a body and an origin-id alone; one of a room that was not joined is dropped")
    func stanzas() throws {
        let room = try RoomHarness.joined(features: ["http://jabber.org/protocol/muc"])
        try room.accept("one")
        let stanza = try #require(
            try room.harness.text("SELECT CAST(stanza AS TEXT) FROM queue WHERE groupchat IS NOT NULL"))
        #expect(try Element.parse(StepHarness.inClient(stanza)).children.map(\.name) == ["body", "origin-id"])
        try room.harness.receive(
            "<message from='other@muc.example.org/eve' type='groupchat' id='x'><body>unasked</body></message>")
        #expect(try room.harness.number("SELECT count(*) FROM message WHERE body = 'unasked'") == 0)
    }

    @Test(
        "a mention is a word of its own",
        arguments: [
            ("Juliet: hello", true), ("hello JULIET!", true), ("julieta", false), ("ajuliet", false), ("jul", false),
        ])
    func mention(_ text: String, _ isMention: Bool) { #expect(Mention.names("juliet", in: text) == isMention) }

    @Test("what waits for a room fails when the user leaves; the outcome of what has left is unknown")
    func leaving() throws {
        let room = try RoomHarness.joined()
        try room.accept("left")
        try room.send()
        try room.refuseJoin()
        try room.accept("waits")
        try room.perform(LeaveRoom(try JID(RoomHarness.room)), id: "leave")
        #expect(try room.harness.history().suffix(2) == ["out left (acked) unsettled", "out waits (failed)"])
    }
}

extension RoomHarness {
    /// The service was shut down.
    fileprivate func refuseJoin() throws { try presence("juliet", [332, 110], type: "unavailable") }
}
