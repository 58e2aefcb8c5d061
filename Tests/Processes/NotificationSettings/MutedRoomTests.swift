import Foundation
import KalijLab
import Testing

/// A room that is muted on one device of an account, at servers that keep an item for each room (XEP-0492, XEP-0402).
@Suite(.serialized) struct MutedRoomTests {
    private static let orchard = "orchard@conference.localhost"
    private static let items =
        "<pubsub xmlns='http://jabber.org/protocol/pubsub'><items node='urn:xmpp:bookmarks:1'/></pubsub>"

    private static func notify(_ kalij: Kalij) throws -> String? {
        try kalij("--json", "settings", orchard).objects().first?["notify"] as? String
    }

    private static func bookmark(_ kalij: Kalij) throws -> String {
        try kalij("iq", "alice@localhost", items).output
    }

    private static func state(_ kalij: Kalij) throws -> String? {
        try kalij("--json", "room").objects().first { $0["room"] as? String == orchard }?["room_state"] as? String
    }

    @Test(
        "a room muted on one device is muted on the other, online or later, and the other way round; what others put there stays"
    )
    func followed() async throws {
        try await World.atEachServer { world in
            let kind = world.server.kind
            // ejabberd 23.01 keeps the former list, in which XEP-0492 has no place.
            guard kind == .prosody || DebianRelease.standard != .installed else { return }
            let bob = try await world.peer("bob").chat(
                with: Self.orchard, label: "x", rate: 1, count: 0, resource: "orc", nick: "bob")
            let phone = try Kalij(data: world.laboratory.path("phone"))
            #expect(try phone.login(world.server).status == 0)
            let run = try phone.running()
            try await run.event("caught_up")
            #expect(try world.kalij("room", "join", Self.orchard).status == 0)
            #expect(try world.kalij("wake").status == 0)
            #expect(try await until { try Self.state(phone) == "joined" }, "\(kind)")
            #expect(try Self.notify(phone) == "all", "\(kind)")

            // Without a session here; the phone is online.
            #expect(try world.kalij("settings", Self.orchard, "notify=none").status == 0)
            #expect(try world.kalij("wake").status == 0)
            let isMuted = try await until { try Self.notify(phone) == "none" }
            let listed = try Self.bookmark(world.kalij)
            #expect(isMuted && listed.contains("<never"), "\(kind): \(listed)")

            // Another program writes something of its own beside it.
            let marked = listed.replacing("</notify>", with: "<mark xmlns='urn:example:client'/></notify>")
                .matches(of: /<conference.*<\/conference>/).map { String($0.output) }
            let publish = """
                <pubsub xmlns='http://jabber.org/protocol/pubsub'><publish node='urn:xmpp:bookmarks:1'>\
                <item id='\(Self.orchard)'>\(marked.first ?? "")</item></publish></pubsub>
                """
            #expect(try world.kalij("iq", "alice@localhost", publish, "--set").status == 0, "\(kind): \(marked)")

            // On the phone, which is online; this device learns it later.
            #expect(try phone("settings", Self.orchard, "notify=mentions").status == 0)
            #expect(try await until { try Self.bookmark(phone).contains("<on-mention") }, "\(kind)")
            #expect(try Self.notify(world.kalij) == "none", "\(kind)")
            #expect(
                try await until {
                    _ = try world.kalij("wake")
                    return try Self.notify(world.kalij) == "mentions"
                }, "\(kind)")
            let end = try Self.bookmark(phone)
            #expect(end.contains("urn:example:client") && !end.contains("<never"), "\(kind): \(end)")
            #expect(try Self.notify(phone) == "mentions" && Self.state(phone) == "joined", "\(kind)")
            #expect(run.end(SIGTERM).status == 0)
            await bob.quit()
        }
    }
}
