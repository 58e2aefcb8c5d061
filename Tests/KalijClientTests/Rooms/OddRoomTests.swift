import KalijAddress
import KalijXML
import Testing

@testable import KalijEngine
@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// What rooms and gateways do that few expect; from public reports (Documentation/BugReports.md).
struct OddRoomTests {
    @Test("XEP-0045 8.1: a subject with a thread, or with a text, is a message's and not the room's")
    func thread() throws {
        let room = try RoomHarness.joined()
        try room.subject("Wherefore")
        for content in ["<thread>t1</thread>", "<thread/>", "<body/>", "<body>why</body>"] {
            try room.harness.receive(
                """
                <message from='\(RoomHarness.room)/romeo' type='groupchat'><subject>Threads</subject>\(content)</message>
                """)
            #expect(try room.room.subject == "Wherefore", "\(content)")
        }
    }

    @Test("XEP-0045 7.6: a nickname that is taken is not taken by another; the account keeps its own, and says so")
    func taken() throws {
        let room = try RoomHarness.joined()
        let nick = JoinRoom(try JID(RoomHarness.room), nick: "tybalt")
        #expect(try room.perform(nick, id: "rename") == .pending)
        try room.harness.receive(
            """
            <presence from='\(RoomHarness.room)/tybalt' type='error'><error type='cancel'>\
            <conflict xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></presence>
            """)
        #expect(try room.outcome("rename") == .failed("the nickname is taken"))
        // The answer to the ping of the refused nickname is ignored.
        #expect(try room.harness.waiting("rooms.pinged").count == 2)
        let first = try #require(try room.harness.waiting("rooms.pinged").first)
        try room.harness.receive(
            """
            <iq type='error' from='\(RoomHarness.room)/tybalt' id='\(first)'><error type='cancel'>\
            <not-acceptable xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></iq>
            """)
        try room.pong()
        #expect(try room.room.state == "joined" && room.room.nick == "juliet")
        #expect(try !room.harness.queue().contains("presence x") || room.room.nick == "juliet")
        // The next rename works, and the answer to the former one changes nothing any more.
        #expect(try room.perform(JoinRoom(try JID(RoomHarness.room), nick: "capulet"), id: "again") == .pending)
        try room.harness.receive(
            """
            <presence from='\(RoomHarness.room)/tybalt' type='error'><error type='cancel'>\
            <conflict xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></presence>
            """)
        try room.presence("juliet", [303, 110], type: "unavailable", item: " nick='capulet'")
        try room.presence("capulet", [110])
        try room.subject("Wherefore")
        #expect(try room.outcome("again") == .done && room.room.nick == "capulet" && room.room.state == "joined")
    }

    @Test("an error for a nickname that the account has not asked for ends no stay")
    func foreignError() throws {
        let room = try RoomHarness.joined()
        try room.harness.receive(
            """
            <presence from='\(RoomHarness.room)/tybalt' type='error'><error type='cancel'>\
            <conflict xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></presence>
            """)
        #expect(try room.room.state == "joined")
    }

    @Test("a room that shows messages under other ids shows the own one once, unless another client has sent the text")
    func otherIDs() throws {
        for (features, origin, lines) in [
            (RoomHarness.group, "", ["out via irc (delivered)"]),
            (
                RoomHarness.group, "<origin-id xmlns='urn:xmpp:sid:0' id='phone'/>",
                ["out via irc (acked)", "out via irc (delivered)"]
            ),
            (
                RoomHarness.group + ["http://jabber.org/protocol/muc#stable_id"], "",
                ["out via irc (acked)", "out via irc (delivered)"]
            ),
        ] {
            let room = try RoomHarness.joined(features: features)
            try room.accept("via irc")
            try room.send()
            try room.say("via irc", as: "juliet", id: "svc2", stamp: "r2", delay: origin)
            #expect(try room.harness.history().suffix(2).filter { $0.contains("irc") } == lines)
        }
    }

    @Test("XEP-0313: the user's message that a gateway archives without its id is the one that was shown (biboumi)")
    func archivedWithoutID() throws {
        let room = try RoomHarness.joined()
        try room.accept("via irc")
        try room.send()
        try room.say("via irc", as: "juliet", id: "svc2", stamp: "r2")
        try room.bindAnew()
        try room.harness.receive(
            try room.harness.result(
                "r2", room: RoomHarness.room,
                xml: "<message from='\(RoomHarness.room)/juliet' type='groupchat'><body>via irc</body></message>"))
        #expect(try room.harness.history().filter { $0.contains("irc") } == ["out via irc (delivered)"])
    }

    @Test("XEP-0045 7.5: a private message that the room refuses has failed, whoever of the room says so")
    func refusedPrivately() throws {
        for sender in ["\(RoomHarness.room)/romeo", RoomHarness.room] {
            let room = try RoomHarness.joined()
            let romeo = try JID("\(RoomHarness.room)/romeo")
            _ = try room.harness.accept("psst", to: romeo.description)
            try room.send()
            try room.harness.receive(
                """
                <message type='error' from='\(sender)' id='\(try room.id(of: "psst"))'>\
                <x xmlns='http://jabber.org/protocol/muc#user'/><error type='auth' by='\(RoomHarness.room)'>\
                <forbidden xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></message>
                """)
            #expect(try room.harness.text("SELECT state FROM message WHERE body = 'psst'") == "failed", "\(sender)")
        }
    }

    @Test("a private message that two clients under one nickname get, and the server archives twice, is one line")
    func doubled() throws {
        let room = try RoomHarness.joined()
        func message(to resource: String, _ id: String, _ body: String = "psst") -> String {
            """
            <message from='\(RoomHarness.room)/romeo' to='juliet@example.org/\(resource)' type='chat' id='pm1'>\
            <body>\(body)</body><origin-id xmlns='urn:xmpp:sid:0' id='pm1'/>\
            <x xmlns='http://jabber.org/protocol/muc#user'/>\
            <stanza-id xmlns='urn:xmpp:sid:0' by='juliet@example.org' id='\(id)'/></message>
            """
        }
        try room.harness.receive(message(to: "balcony", "p1"))
        try room.harness.receive(
            """
            <message from='juliet@example.org'><received xmlns='urn:xmpp:carbons:2'><forwarded xmlns='urn:xmpp:forward:0'>\
            \(StepHarness.inClient(message(to: "laptop", "p2")))</forwarded></received></message>
            """)
        _ = try room.harness.steps.readArchive()
        for id in ["p1", "p2"] {
            try room.harness.receive(try room.harness.result(id, xml: message(to: "laptop", id)))
        }
        try room.harness.fin("page", first: "p1", last: "p2", complete: true)
        #expect(try room.harness.number("SELECT count(*) FROM message WHERE body = 'psst'") == 1)
    }

    @Test(
        "a bookmark with a nickname that none can hold is as one without",
        arguments: ["<nick/>", "<nick>\(String(repeating: "n", count: 1024))</nick>", ""])
    func emptyNick(_ nick: String) throws {
        let item = try Element.parse(
            "<conference xmlns='urn:xmpp:bookmarks:1' autojoin='true'>\(nick)</conference>")
        let bookmark = try #require(Bookmark(item, id: RoomHarness.room))
        #expect(bookmark.nick == nil && bookmark.autojoin)
    }

    private func list(_ bookmark: String, _ room: RoomHarness) throws {
        for name in [BookmarksResponse.name, BookmarkPublishResponse.name] { try room.harness.removeRequests(name) }
        try room.harness.database.execute(
            "INSERT OR REPLACE INTO bookmarks(account, kind) VALUES (\(room.harness.account.id), 'native')")
        _ = try room.harness.perform { try Bookmarks(step: $0).requestList() }
        let id = try #require(try room.harness.waiting("rooms.bookmarks").last)
        try room.harness.receive(
            """
            <iq type='result' id='\(id)'><pubsub xmlns='http://jabber.org/protocol/pubsub'>\
            <items node='\(Bookmark.native)'><item id='\(RoomHarness.room)'>\(bookmark)</item></items></pubsub></iq>
            """)
    }

    @Test("XEP-0402 3: a bookmark too long to be stored is followed, and never overwritten: extensions stay")
    func oversized() throws {
        let room = try RoomHarness.joined()
        func bookmark(_ autojoin: Bool) -> String {
            """
            <conference xmlns='\(Bookmark.native)' autojoin='\(autojoin)'><nick>juliet</nick><extensions>\
            <other xmlns='urn:example:client'>\(String(repeating: "x", count: 1_000_000))</other></extensions></conference>
            """
        }
        try list(bookmark(true), room)
        #expect(try room.room.state == "joined")
        #expect(try room.harness.number("SELECT max(length(xml)) FROM bookmark") ?? 0 < 1000)
        try room.perform(LeaveRoom(try JID(RoomHarness.room)), id: "leave")
        try list(bookmark(true), room)
        #expect(try room.harness.waiting("rooms.bookmarked").isEmpty, "the change waits until the element is shorter")
        try room.perform(JoinRoom(try JID(RoomHarness.room)), id: "join")
        try list(bookmark(true), room)
        try list(bookmark(false), room)
        #expect(try room.harness.number("SELECT wanted FROM room") == 0, "another device has left the room")
        #expect(try room.harness.waiting("rooms.bookmarked").isEmpty)
    }
}
