import KalijAddress
import KalijHandlers
import KalijRatchet
import KalijXML
import TestSupport
import Testing

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// Servers and rooms that make the engine repeat requests: each request has a pace.
struct LoopTests {
    private static let bookmarks = "urn:xmpp:bookmarks:1"

    /// A server that confirms every change of its list and lists `room` as `conference`.
    private func lister(_ harness: StepHarness, _ conference: String) -> LoopingServer {
        LoopingServer(harness) { request, name in
            guard request.name == "iq" else { return [] }
            guard name == BookmarksResponse.name else { return [LoopingServer.result(of: request)] }
            return [
                LoopingServer.result(
                    of: request,
                    """
                    <pubsub xmlns='http://jabber.org/protocol/pubsub'><items node='\(Self.bookmarks)'>\
                    <item id='\(RoomHarness.room)'><conference xmlns='\(Self.bookmarks)' \(conference)/></item></items></pubsub>
                    """)
            ]
        }
    }

    /// The list is kept by the server's node, and no question for it is open.
    private func listed(_ harness: StepHarness) throws {
        for name in [BookmarksResponse.name, BookmarkPublishResponse.name] { try harness.removeRequests(name) }
        try harness.database.execute(
            "INSERT OR REPLACE INTO bookmarks(account, kind) VALUES (\(harness.account.id), 'native')")
    }

    @Test("a server that confirms a bookmark and lists it otherwise: a few writes, then pauses; also in new processes")
    func bookmark() throws {
        let room = try RoomHarness.joined()
        try listed(room.harness)
        let server = lister(room.harness, "autojoin='true'")
        _ = try room.harness.runner.run("test", for: room.harness.account) {
            try Bookmarks(step: $0).changed(
                try #require(try RoomCoordinator(step: $0).rows.room(try JID(RoomHarness.room))))
        }
        try server.play(minutes: 10)
        let first = server.count[BookmarkPublishResponse.name, default: 0]
        #expect((2...10).contains(first))
        #expect(server.count[BookmarksResponse.name, default: 0] <= first + 5)
        // Each session reads the list, and the pause goes on.
        for _ in 0..<20 {
            _ = try room.harness.runner.run("test", for: room.harness.account) { try Bookmarks(step: $0).sessionLost() }
            try listed(room.harness)
            _ = try room.harness.runner.run("test", for: room.harness.account) { try Bookmarks(step: $0).requestList() }
            try server.play(minutes: 0)
        }
        #expect(server.count[BookmarkPublishResponse.name, default: 0] == first)
        // An hour later, and a day later, there are few more.
        try server.play(minutes: 60)
        #expect(server.count[BookmarkPublishResponse.name, default: 0] <= first + 4)
    }

    @Test("a room that is gone and stays in the server's list: a few removals, then pauses")
    func removal() throws {
        let room = try RoomHarness.joined()
        try listed(room.harness)
        try room.presence("juliet", type: "unavailable", content: "<destroy/>")
        let server = lister(room.harness, "autojoin='false'")
        try server.play(minutes: 10)
        #expect((2...10).contains(server.count[BookmarkPublishResponse.name, default: 0]))
    }

    @Test("a room that lets in, and answers each self-ping with not-acceptable: a few joins, then pauses")
    func selfPing() throws {
        let room = try RoomHarness()
        let server = LoopingServer(room.harness) { stanza, name in
            switch name {
            case RoomInfoResponse.name:
                return [
                    LoopingServer.result(
                        of: stanza,
                        """
                        <query xmlns='http://jabber.org/protocol/disco#info'>\
                        <identity category='conference' type='text'/><feature var='muc_membersonly'/></query>
                        """)
                ]
            case SelfPingResponse.name: return [LoopingServer.error(of: stanza, "not-acceptable")]
            case .some: return [LoopingServer.result(of: stanza)]
            case nil:
                guard stanza.name == "presence", stanza["type"] == nil, stanza["to"] != nil else { return [] }
                return [
                    """
                    <presence from='\(RoomHarness.room)/juliet'><x xmlns='http://jabber.org/protocol/muc#user'>\
                    <item affiliation='member' role='participant'/><status code='110'/></x></presence>
                    """,
                    "<message from='\(RoomHarness.room)' type='groupchat'><subject/></message>",
                ]
            }
        }
        try server.play(minutes: 10)
        #expect((5...16).contains(server.count["presence", default: 0]))
        #expect(server.total <= 80)
        // The user's word is followed at once.
        let before = server.count["presence", default: 0]
        try room.perform(LeaveRoom(try JID(RoomHarness.room)), id: "leave")
        try room.perform(JoinRoom(try JID(RoomHarness.room)), id: "again")
        try server.play(minutes: 0)
        #expect(server.count["presence", default: 0] > before + 1)
    }

    @Test("a room that tells of changes a thousand times is asked once for all of them, and then with pauses")
    func configuration() throws {
        let room = try RoomHarness.joined()
        for _ in 0..<20 {
            for _ in 0..<50 {
                try room.harness.receive(
                    """
                    <message from='\(RoomHarness.room)' type='groupchat'>\
                    <x xmlns='http://jabber.org/protocol/muc#user'><status code='104'/></x></message>
                    """)
            }
            #expect(try room.harness.waiting(RoomInfoResponse.name).count <= 1)
            if try !room.harness.waiting(RoomInfoResponse.name).isEmpty { try room.describe(RoomHarness.group) }
            try room.harness.acknowledgeAll()
        }
        // The last change is not forgotten.
        #expect(try room.harness.number("SELECT count(*) FROM request WHERE name = '\(RoomInfoResponse.name)'") == 1)
        try room.pass(60_000)
        try room.describe(RoomHarness.group)
        #expect(try room.harness.number("SELECT count(*) FROM request WHERE name = '\(RoomInfoResponse.name)'") == 0)
    }

    @Test("a server that keeps somebody else's key under each id of this device is asked with pauses")
    func foreignKeys() throws {
        let harness = try StepHarness.caughtUp()
        let foreign = try SealedPeer().bundle.xml()
        let server = LoopingServer(harness) { stanza, name in
            guard name == KeyPublishResponse.name else { return name == nil ? [] : [LoopingServer.result(of: stanza)] }
            let node = stanza.child("pubsub", "http://jabber.org/protocol/pubsub")?.child("items")?["node"] ?? ""
            let content = node == OMEMOVersion.axolotl.listNode ? DeviceList([]).element(.axolotl).xml() : foreign
            return [
                LoopingServer.result(
                    of: stanza,
                    """
                    <pubsub xmlns='http://jabber.org/protocol/pubsub'><items node='\(node)'>\
                    <item id='current'>\(content)</item></items></pubsub>
                    """)
            ]
        }
        _ = try harness.runner.run("test", for: harness.account) {
            try KeyPublisher(step: $0, dialect: .axolotl).began()
        }
        try server.play(minutes: 10)
        #expect((20...50).contains(server.count[KeyPublishResponse.name, default: 0]))
    }

    @Test("an archive that names a later page again and again, and shows nothing, is left")
    func emptyPages() throws {
        let harness = try StepHarness.reading()
        var page = 0
        let server = LoopingServer(harness) { stanza, name in
            guard name == ArchivePageResponse.name else { return name == nil ? [] : [LoopingServer.result(of: stanza)] }
            page += 1
            return [
                LoopingServer.result(
                    of: stanza,
                    """
                    <fin xmlns='urn:xmpp:mam:2'><set xmlns='http://jabber.org/protocol/rsm'><first>f\(page)</first>\
                    <last>l\(page)</last></set></fin>
                    """)
            ]
        }
        try server.play(minutes: 10)
        #expect((2...60).contains(page))
    }

    @Test(
        "a server that answers every request wrongly for ten minutes gets a bounded number of them",
        arguments: [
            "", "item-not-found", "conflict", "not-acceptable", "internal-server-error", "service-unavailable",
            "forbidden", "resource-constraint",
        ])
    func wrongAnswers(_ condition: String) throws {
        let room = try RoomHarness.joined()
        try listed(room.harness)
        let server = LoopingServer(room.harness) { stanza, name in
            guard name != nil else { return [] }
            let isLate = ["internal-server-error", "resource-constraint"].contains(condition)
            return condition.isEmpty
                ? [LoopingServer.result(of: stanza)]
                : [LoopingServer.error(of: stanza, condition, type: isLate ? "wait" : "cancel")]
        }
        try room.harness.bind(resumeID: "session-2", answered: .all(but: .features, .roster))
        try room.accept("said")
        try server.play(minutes: 10)
        #expect(server.total <= 150)
        #expect(server.bytes <= 100_000)
    }
}
