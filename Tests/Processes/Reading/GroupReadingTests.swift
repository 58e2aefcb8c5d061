import Foundation
import Glibc
import KalijLab
import TestSupport
import Testing

/// What is read in a group, on both servers, with another client as a member.
@Suite(.serialized) struct GroupReadingTests {
    @Test(
        "a group is read under kills: a marker for each place, in order; and who has read the user's own message is said"
    )
    func killedReader() async throws {
        try await World.atEachServer { world in
            let (kalij, kind) = (world.kalij, world.server.kind)
            let shim = try await CommitShim(in: world.laboratory)
            let created = try kalij("room", "create", "Balcony scene", "--invite", "bob@localhost")
            #expect(created.status == 0, "\(kind): \(created)")
            let room = try #require(try kalij("--json", "room").objects().first?["room"] as? String)
            let chat = try await world.peer("bob").chat(
                with: room, label: "text", rate: 0, count: 10, originIDs: true, markers: true, nick: "bob")
            let texts = try await Self.texts(10, in: room, world)
            var kills = 0
            for (number, text) in texts.enumerated() {
                let environment = shim.environment(
                    counter: world.laboratory.path("commits-\(number)"), kill: number + 1,
                    CommitShim.Moment.allCases[number % 3])
                let read = try Running(
                    kalij.launch(["read", room, "--through", "\(text.row)", "--wait"], environment: environment))
                if read.process.ended() == .killed(SIGKILL) { kills += 1 }
            }
            #expect(kills >= 5, "\(kind): \(kills)")
            #expect(try kalij("read", room, "--wait").status == 0)
            let last = try #require(texts.last?.stanza)
            func markers() throws -> [String] {
                try chat.events().filter { $0.event == "marker" && $0.sender == "\(room)/alice" }.compactMap(\.id)
            }
            #expect(try await until(every: 100) { try markers().contains(last) }, "\(kind)")
            let given = try markers()
            let wanted = texts.map(\.stanza).filter { given.contains($0) }
            #expect(given == wanted, "\(kind): \(given) of \(texts)")
            print("group reading at \(kind): \(kills) kills, \(given.count) markers")

            // The other way: bob has read what alice said.
            #expect(try kalij("send", room, "Good night", "--confirm").status == 0)
            let own = try #require(
                try kalij("--json", "history", room).objects().last { $0["body"] as? String == "Good night" })
            #expect(own["read_by"] as? [String] == [], "\(kind): \(own)")
            let name = try #require(own["stanza_id"] as? String)
            try chat.send(
                raw: """
                    <message to='\(room)' type='groupchat' id='seen'><displayed xmlns='urn:xmpp:chat-markers:0' id='\(name)'/></message>
                    """)
            var seen: [String: Any]?
            let isSeen = try await until {
                #expect(try kalij("wake", "--budget", "300").status == 0)
                seen = try kalij("--json", "history", room).objects().last { $0["body"] as? String == "Good night" }
                return seen?["read_by"] as? [String] == ["bob@localhost"]
            }
            #expect(isSeen && seen?["state"] as? String == "displayed", "\(kind): \(seen ?? [:])")
            await chat.quit()
        }
    }

    /// A text: its row, and its id in the room's archive.
    private struct Text {
        let row: Int
        let stanza: String
    }

    /// The texts of others, as soon as there are `count`.
    private static func texts(_ count: Int, in room: String, _ world: World) async throws -> [Text] {
        var texts: [Text] = []
        let areThere = try await until {
            #expect(try world.kalij("wake", "--budget", "300").status == 0)
            texts = try world.kalij("--json", "history", room).objects()
                .filter { $0["direction"] as? String == "in" }
                .compactMap { text in
                    guard let row = text["id"] as? Int, let stanza = text["stanza_id"] as? String else { return nil }
                    return Text(row: row, stanza: stanza)
                }
            return texts.count >= count
        }
        #expect(areThere, "\(world.server.kind): \(texts)")
        return texts
    }
}
