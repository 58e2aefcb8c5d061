import KalijAddress
import KalijXML
import Testing

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// The choice of what notifies, shared by the devices of an account (XEP-0492).
struct SharedChoiceTests {
    private static let never = ListedRoom.never
    private static let always = ListedRoom.notify("<always/>")

    @Test("a choice for a room is written into its bookmark once, and nothing is written in response to the own event")
    func published() throws {
        let r = try ListedRoom()
        try r.choose("none")
        #expect(try r.state() == "changed")
        let other = "<other xmlns='urn:example:client'>1</other>"
        try r.list(other)
        #expect(try r.written() == extensions(other + Self.never))
        try r.answer()
        try r.list(other + Self.never)
        #expect(try r.state() == "settled")
        try r.event()
        try r.list(other + Self.never)
        #expect(try r.written() == nil && !r.isAsked)
        try r.choose("none")
        try r.list(other + Self.never)
        #expect(try r.written() == nil && r.state() == "settled", "the same choice again")
    }

    @Test("the same choice again is written over another device's, which was not read yet")
    func again() throws {
        let r = try ListedRoom()
        try r.choose("none")
        try r.list(Self.never)
        try r.choose("none")
        try r.list(Self.always)
        #expect(try r.written() == extensions(Self.never) && r.choice() == NotifyChoice.none)
    }

    @Test("a choice made without a connection is written when the session is resumed, however long that takes")
    func withoutConnection() throws {
        let r = try ListedRoom()
        try r.choose("none")
        try r.harness.letExpire()
        #expect(try !r.isAsked && r.state() == "changed")
        _ = try r.harness.resumeElsewhere()
        #expect(try r.isAsked)
        try r.list(Self.always)
        #expect(try r.written() == extensions(Self.never))
        try r.harness.letExpire()
        _ = try r.harness.resumeElsewhere()
        #expect(try r.isAsked, "also a write that was never sent")
    }

    @Test(
        "the choices are always, on-mention and never; a period of silence stays here, and survives another device's choice"
    )
    func names() throws {
        let r = try ListedRoom()
        for (choice, name) in [("none", "never"), ("mentions", "on-mention"), ("all", "always")] {
            try r.choose(choice)
            try r.list("")
            #expect(try r.written() == extensions(ListedRoom.notify("<\(name)/>")))
            try r.answer()
            try r.list(ListedRoom.notify("<\(name)/>"))
        }
        try r.choose("2026-11-21T18:00:00Z")
        #expect(try !r.isAsked)
        try r.list(Self.never)
        let settings = StoredSettings(database: r.harness.database, account: r.harness.account.id)
        let stored = try settings.settings(for: RoomHarness.room, now: r.harness.clock.now)
        #expect(stored.notify == .none && stored.mutedUntil != nil)
    }

    @Test("a choice of another device is adopted with an event and without a write; also its removal")
    func adopted() throws {
        let r = try ListedRoom()
        try r.event()
        let effects = try r.list(Self.never)
        #expect(effects.events.contains { ($0.content as? SettingsChanged)?.conversation == RoomHarness.room })
        #expect(try r.choice() == NotifyChoice.none)
        try r.room.say("juliet, come")
        #expect(try r.harness.number("SELECT count(*) FROM notification") == 0)
        try r.list(ListedRoom.notify(""))
        #expect(try r.choice() == nil, "as in section 3: the default applies")
        try r.room.say("juliet, again")
        #expect(try r.harness.number("SELECT count(*) FROM notification") == 1)
        #expect(try r.written() == nil && !r.isAsked)
    }

    @Test("a choice made without a session is written in the next one, also one from before the room was joined")
    func offline() throws {
        let r = try ListedRoom()
        try r.harness.database.execute("DELETE FROM bookmarks")
        try r.choose("none")
        #expect(try !r.isAsked)
        try r.online()
        try r.list(Self.always)
        #expect(try r.written() == extensions(Self.never))
        let other = "garden@muc.example.org"
        try r.answer()
        try r.choose("mentions", for: other)
        try r.list(Self.never)
        #expect(try r.written() == nil, "the room has no bookmark")
        try r.list(Self.never, others: ListedRoom.item("", other, autojoin: false))
        #expect(try r.written() == extensions(ListedRoom.notify("<on-mention/>")))
    }

    @Test("both devices at once: the choice that the server has received last counts for both")
    func together() throws {
        let r = try ListedRoom()
        try r.list(Self.always)
        try r.choose("none")
        try r.list(ListedRoom.notify("<on-mention/>"))
        #expect(try r.written() == extensions(Self.never), "the own choice is received later")
        try r.answer()
        try r.list(ListedRoom.notify("<on-mention/>"))
        #expect(try r.choice() == .mentions && r.written() == nil, "the other choice was received after the own one")
        try r.list(Self.never)
        try r.choose("all")
        try r.list(Self.never)
        try r.choose("none")
        try r.answer()
        try r.list(Self.always)
        #expect(try r.written() == extensions(Self.never), "a choice during a write is not acknowledged with it")
    }

    @Test("a write without a response is repeated in the next session, unless it has arrived")
    func lost() throws {
        for hasArrived in [true, false] {
            let r = try ListedRoom()
            try r.choose("none")
            try r.list(Self.always)
            #expect(try r.state() == "sent")
            try r.harness.bind(resumeID: "session-2")
            try r.online()
            #expect(try r.written() == nil)
            try r.list(hasArrived ? Self.never : Self.always)
            #expect(try (r.written() == nil) == hasArrived)
            #expect(try r.choice() == NotifyChoice.none)
        }
    }

    @Test("a refused write is repeated after the list was read again, and the choice stays")
    func refused() throws {
        let r = try ListedRoom()
        try r.choose("none")
        try r.list(Self.always)
        try r.answer("resource-constraint")
        #expect(try !r.isAsked && r.written() == nil, "no loop")
        try r.list(Self.always)
        #expect(try r.written() == extensions(Self.never))
        #expect(try r.choice() == NotifyChoice.none)
    }

    @Test("a choice from before this version is written, and yields to one in the bookmark")
    func before() throws {
        for (listed, choice) in [("", NotifyChoice.none), (Self.always, .all)] {
            let r = try ListedRoom()
            try r.choose("none")
            try r.harness.database.execute("DELETE FROM notification_setting")
            try r.list(listed)
            #expect(try (r.written() == nil) == !listed.isEmpty)
            #expect(try r.choice() == choice)
        }
    }

    @Test("other settings, those of all conversations and those of contacts are not shared")
    func others() throws {
        let r = try ListedRoom()
        try r.list("")
        try r.choose("none", for: "romeo@example.net")
        var change = ChangeSettings(for: try JID(RoomHarness.room))
        (change.receipts, change.preview) = (false, false)
        try r.room.perform(change, id: "receipts")
        change = ChangeSettings()
        change.notify = "none"
        try r.room.perform(change, id: "all")
        #expect(try !r.isAsked)
        try r.list("")
        #expect(try r.written() == nil)
    }
}
