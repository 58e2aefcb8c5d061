import KalijAddress
import KalijXML
import Testing

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// Servers and peers that mean no good by notification settings (XEP-0492).
struct HostileChoiceTests {
    @Test(
        "an event of the list counts from the own account alone",
        arguments: [
            "romeo@example.net", "romeo@example.net/orchard", RoomHarness.room, "\(RoomHarness.room)/romeo",
            "example.org", "juliet@example.org.example.net",
        ])
    func forged(_ sender: String) throws {
        let r = try ListedRoom()
        try r.list("")
        try r.event(from: sender)
        try r.harness.receive(
            """
            <message from='\(sender)' type='headline'><conference xmlns='\(Bookmark.native)'><extensions>\(ListedRoom.never)\
            </extensions></conference>\(ListedRoom.never)</message>
            """)
        #expect(try !r.isAsked && r.choice() == nil)
        try r.harness.receive(
            """
            <iq type='result' id='x' from='\(sender)'><pubsub xmlns='http://jabber.org/protocol/pubsub'>\
            <items node='\(Bookmark.native)'>\(ListedRoom.item(ListedRoom.never))</items></pubsub></iq>
            """)
        #expect(try r.choice() == nil)
    }

    @Test("a response from another address to a request for the list is none")
    func forgedResponse() throws {
        let r = try ListedRoom()
        _ = try r.harness.perform { try Bookmarks(step: $0).requestList() }
        let id = try #require(try r.harness.waiting(BookmarksResponse.name).last)
        try r.harness.receive(
            """
            <iq type='result' id='\(id)' from='romeo@example.net'><pubsub xmlns='http://jabber.org/protocol/pubsub'>\
            <items node='\(Bookmark.native)'>\(ListedRoom.item(ListedRoom.never))</items></pubsub></iq>
            """)
        #expect(try r.choice() == nil && r.isAsked)
    }

    @Test("the event's content does not count: the list is read")
    func content() throws {
        let r = try ListedRoom()
        try r.list("")
        try r.event()
        #expect(try r.isAsked && r.choice() == nil)
    }

    @Test("settings of a thousand rooms where the account is not leave no row")
    func strangers() throws {
        let r = try ListedRoom()
        let rooms = (0..<1000).map { ListedRoom.item(ListedRoom.never, "room\($0)@muc.example.org", autojoin: false) }
        try r.list(ListedRoom.never, others: rooms.joined())
        #expect(try r.harness.number("SELECT count(*) FROM setting") == 1)
        #expect(try r.harness.number("SELECT count(*) FROM notification_setting") == 1)
    }

    @Test(
        "10,000 elements, one of 1 MB, or nested settings: the first setting counts, and what is too long is not overwritten",
        arguments: [
            String(repeating: ListedRoom.notify("<always/>"), count: 10_000),
            ListedRoom.notify(String(repeating: "<always/><never/>", count: 10_000)),
            ListedRoom.notify("<always/><mark xmlns='urn:x'>\(String(repeating: "x", count: 1_000_000))</mark>"),
            ListedRoom.notify("<always><never/>\(ListedRoom.never)</always>"),
        ])
    func large(_ extensions: String) throws {
        let r = try ListedRoom()
        try r.list(extensions)
        #expect(try r.choice() == .all && r.room.room.state == "joined")
        try r.choose("none")
        try r.list(extensions)
        #expect(try (r.written() == nil) == (extensions.utf8.count > 20_000))
        #expect(try r.choice() == NotifyChoice.none)
        #expect(try r.harness.number("SELECT max(length(xml)) FROM bookmark") ?? 0 < 20_000)
    }

    @Test(
        "a server that acknowledges a choice and drops it, or keeps another one: the choice stays, writes have pauses")
    func dropped() throws {
        let r = try ListedRoom()
        try r.choose("none")
        var writes = 0
        for _ in 0..<40 {
            try r.list("")
            guard try r.written() != nil else { continue }
            writes += 1
            try r.answer()
        }
        #expect((2...5).contains(writes))
        #expect(try r.choice() == NotifyChoice.none)
        try r.list(ListedRoom.notify("<always/>"))
        #expect(try r.choice() == .all, "an explicit choice is a later one")
        for _ in 0..<20 { try r.list(ListedRoom.notify("<always/>")) }
        #expect(try r.written() == nil)
    }

    @Test("a server that changes its mind each time is followed, and never written to")
    func fickle() throws {
        let r = try ListedRoom()
        for turn in 0..<80 {
            try r.list(ListedRoom.notify(turn % 2 == 0 ? "<never/><always/>" : "<always/><never/>"))
            #expect(try r.choice() == (turn % 2 == 0 ? NotifyChoice.none : .all))
        }
        #expect(try r.harness.number("SELECT count(*) FROM setting") ?? 0 <= 2)
        #expect(try r.written() == nil)
    }
}
