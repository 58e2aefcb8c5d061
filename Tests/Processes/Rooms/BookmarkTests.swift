import Foundation
import KalijLab
import Testing

/// The list of rooms that the devices of an account share, on both servers: Prosody has the native list, ejabberd 23.01
/// one item.
@Suite(.serialized) struct BookmarkTests {
    private static let (orchard, garden, balcony) = (
        "orchard@conference.localhost", "garden@conference.localhost", "balcony@conference.localhost"
    )
    private static let list = "<query xmlns='jabber:iq:private'><storage xmlns='storage:bookmarks'/></query>"

    private static func states(_ kalij: Kalij) throws -> [String: String] {
        Dictionary(
            uniqueKeysWithValues: try kalij("--json", "room").objects().map {
                ($0["room"] as? String ?? "", $0["room_state"] as? String ?? "")
            })
    }

    /// Bob makes the rooms, and stays.
    private static func rooms(_ world: World) async throws -> [Chat] {
        var chats: [Chat] = []
        for room in [orchard, garden, balcony] {
            chats.append(
                try await world.peer("bob").chat(
                    with: room, label: "x", rate: 1, count: 0, resource: String(room.prefix(3)), nick: "bob"))
        }
        return chats
    }

    @Test(
        "a room entered or left on one device is entered or left on the other, online or later; what others put there stays"
    )
    func followed() async throws {
        try await World.atEachServer { world in
            let kind = world.server.kind
            let chats = try await Self.rooms(world)
            let phone = try Kalij(data: world.laboratory.path("phone"))
            #expect(try phone.login(world.server).status == 0)
            let run = try phone.running()
            try await run.event("caught_up")
            #expect(try world.kalij("room", "join", Self.orchard, "--nick", "juliet").status == 0)
            #expect(try world.kalij("room", "join", Self.garden).status == 0)
            #expect(try world.kalij("wake").status == 0)
            let isThere = try await until {
                let states = try Self.states(phone)
                return states[Self.orchard] == "joined" && states[Self.garden] == "joined"
            }
            let seen = try phone("room").output
            #expect(isThere, "\(kind): \(seen)")
            #expect(seen.contains("as juliet"), "\(kind): \(seen)")
            // Another client's words in the list, by private XML.
            let before = try world.kalij("iq", "alice@localhost", Self.list).output
            #expect(before.contains(Self.orchard), "\(kind): \(before)")

            #expect(try world.kalij("room", "leave", Self.orchard).status == 0)
            #expect(try world.kalij("wake").status == 0)
            let isGone = try await until { try Self.states(phone)[Self.orchard] == "left" }
            let gone = try phone("room").output
            #expect(isGone, "\(kind): \(gone)")
            #expect(try Self.states(phone)[Self.garden] == "joined", "\(kind)")
            #expect(run.end(SIGTERM).status == 0)

            // A third device finds what is wanted.
            let third = try Kalij(data: world.laboratory.path("third"))
            #expect(try third.login(world.server).status == 0)
            #expect(try third("wake").status == 0)
            let isFound = try await until {
                _ = try third("wake")
                return try Self.states(third)[Self.garden] == "joined"
            }
            let found = try third("room").output
            #expect(isFound, "\(kind): \(found)")
            #expect(try Self.states(third)[Self.orchard] == nil, "\(kind): \(found)")
            for chat in chats { await chat.quit() }
        }
    }

    @Test(
        "case 34: two devices change the list at the same time, one by private XML: no room lost, foreign words kept, no loop"
    )
    func together() async throws {
        try await World.atEachServer { world in
            let kind = world.server.kind
            let chats = try await Self.rooms(world)
            let other = try Kalij(data: world.laboratory.path("other"))
            #expect(try other.login(world.server).status == 0)
            let run = try world.kalij.running()
            try await run.event("caught_up")
            #expect(try world.kalij("room", "join", Self.orchard).status == 0)
            #expect(try await until { try other("iq", "alice@localhost", Self.list).output.contains(Self.orchard) })
            // The other device has read the list, enters a room, and writes the list back with this room; meanwhile
            // this device has entered a third room.
            #expect(try world.kalij("room", "join", Self.garden).status == 0)
            let lists = """
                <query xmlns='jabber:iq:private'><storage xmlns='storage:bookmarks'>\
                <conference jid='\(Self.orchard)' autojoin='true' name='Orchard'><nick>alice</nick>\
                <mark xmlns='urn:example:client' word='kept'/></conference>\
                <conference jid='\(Self.balcony)' autojoin='true'><nick>alice</nick></conference>\
                <url url='https://example.org' name='kept'/></storage></query>
                """
            #expect(try other("iq", "alice@localhost", lists, "--set").status == 0)
            let isMerged = try await until(every: 200) {
                let list = try other("iq", "alice@localhost", Self.list).output
                return [Self.orchard, Self.garden, Self.balcony].allSatisfy { list.contains($0) }
            }
            let list = try other("iq", "alice@localhost", Self.list).output
            #expect(isMerged, "\(kind): \(list)")
            let isIn = try await until {
                let states = try Self.states(world.kalij)
                return [Self.orchard, Self.garden, Self.balcony].allSatisfy { states[$0] == "joined" }
            }
            let rooms = try world.kalij("room").output
            #expect(isIn, "\(kind): \(rooms)")
            // No loop: after some turns of the device and the server nobody has left.
            for turn in 1...5 {
                #expect(try world.kalij("send", Self.orchard, "turn \(turn)", "--confirm").status == 0, "\(kind)")
            }
            let events = try run.events().filter {
                $0["event"] as? String == "room" && $0["room_state"] as? String == "left"
            }
            #expect(events.isEmpty, "\(kind): \(events)")
            // ejabberd 24.12 makes an item of each room, and leaves other clients' words out.
            if kind == .ejabberd, DebianRelease.standard == .installed {
                let end = try other("iq", "alice@localhost", Self.list).output
                #expect(end.contains("urn:example:client") && end.contains("https://example.org"), "\(end)")
            }
            #expect(run.end(SIGTERM).status == 0)
            for chat in chats { await chat.quit() }
        }
    }
}
