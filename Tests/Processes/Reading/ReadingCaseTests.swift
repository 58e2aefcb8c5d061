import Foundation
import Glibc
import KalijLab
import Testing

/// What is read, with real servers: cases that a random run hardly meets.
@Suite(.serialized) struct ReadingCaseTests {
    private static let (alice, bob) = ("alice@localhost", "bob@localhost")
    private static let node = "urn:xmpp:mds:displayed:0"

    @Test(
        "case 16: `read` is killed at each of its commits: a marker for each place, in order; the node has the newest place"
    )
    func killedReader() async throws {
        try await World.atEachServer { world in
            let (kalij, shim) = (world.kalij, try await CommitShim(in: world.laboratory))
            // From now on bob may know what alice has read.
            #expect(try kalij("send", Self.bob, "before").status == 0)
            let chat = try await world.peer("bob").chat(
                with: Self.alice, label: "text", rate: 0, count: 10, originIDs: true, markers: true)
            let texts = try await Self.received(10, from: chat, in: world)
            var kills = 0
            for (number, text) in texts.enumerated() {
                let moment = CommitShim.Moment.allCases[number % 3]
                let environment = shim.environment(
                    counter: world.laboratory.path("commits-\(number)"), kill: number + 1, moment)
                let read = try Running(
                    kalij.launch(["read", Self.bob, "--through", text, "--wait"], environment: environment))
                if read.process.ended() == .killed(SIGKILL) { kills += 1 }
            }
            #expect(kills >= 5, "\(world.server.kind): \(kills)")
            #expect(try kalij("read", Self.bob, "--wait").status == 0)
            try await world.online()
            let markers = try chat.events().filter { $0.event == "marker" }.compactMap(\.id)
            #expect(
                markers == texts.filter { markers.contains($0) } && markers.last == texts.last, "\(markers) \(texts)")
            let newest = try kalij("--json", "history", Self.bob).objects().last?["stanza_id"] as? String
            let items = try kalij(
                "iq", Self.alice,
                "<pubsub xmlns='http://jabber.org/protocol/pubsub'><items node='\(Self.node)'/></pubsub>")
            #expect(newest.map { items.output.contains($0) } == true, "\(world.server.kind): \(items.output)")
            await chat.quit()
        }
    }

    @Test(
        "case 18: another device has displayed a message that is nowhere: forgotten, once the archive was read; a real one counts"
    )
    func nowhere() async throws {
        try await World.atEachServer(options: ServerOptions(resumeSeconds: 5), users: ["alice", "bob", "carol"]) {
            world in
            let log = world.server.sessionReader(account: Self.alice)
            // This device makes the node, for all conversations.
            try await world.online()
            try await world.send(["zero"])
            try await world.online()
            #expect(try world.kalij("read", Self.bob, "--wait").status == 0)
            try await world.online()
            try await world.untilLost(log)
            for user in ["bob", "carol"] {
                try await world.peer(user).send(
                    raw: "<message to='\(Self.alice)' type='chat' id='\(user)-1'><body>one</body></message>"
                        + "<message to='\(Self.alice)' type='chat' id='\(user)-2'><body>two</body></message>")
            }
            let archived = try await world.peer("alice").archive()
            let first = try #require(archived.first { $0.id == "bob-1" }?.archiveID)
            try await world.peer("alice").send(raw: Self.item("bob", first) + Self.item("carol", "nothing"))
            let run = try world.kalij.running()
            try await run.event("caught_up")
            func unread() throws -> [String] {
                try world.kalij("--json", "chats").objects().map { "\($0["conversation"] ?? "") \($0["unread"] ?? "")" }
                    .sorted()
            }
            let isRight = try await until(every: 100) {
                try unread() == ["bob@localhost 1", "carol@localhost 2"]
            }
            let seen = try unread()
            #expect(isRight, "\(world.server.kind): \(seen)")
            let isForgotten = try await until(every: 100) {
                try await world.sql("SELECT count(*) FROM early_displayed") == "0\n"
            }
            #expect(isForgotten, "\(world.server.kind)")
            #expect(run.end(SIGTERM).status == 0)
        }
    }

    /// Publishes a displayed message as another client of the account.
    private static func item(_ contact: String, _ id: String) -> String {
        """
        <iq type='set' id='\(contact)'><pubsub xmlns='http://jabber.org/protocol/pubsub'><publish node='\(node)'>\
        <item id='\(contact)@localhost'><displayed xmlns='\(node)'>\
        <stanza-id xmlns='urn:xmpp:sid:0' by='\(alice)' id='\(id)'/></displayed></item></publish></pubsub></iq>
        """
    }

    /// Waits for so many texts; gives their ids.
    private static func received(_ count: Int, from chat: Chat, in world: World) async throws -> [String] {
        try await chat.finished()
        let texts = try chat.events().filter { $0.event == "sent" }.compactMap(\.id)
        let run = try world.kalij.running()
        try await run.event("caught_up")
        let areHere = try await until(every: 50) {
            try await world.sql("SELECT count(*) FROM message WHERE direction = 'in' AND shown = 1") == "\(count)\n"
        }
        #expect(areHere)
        #expect(run.end(SIGTERM).status == 0)
        return texts
    }
}
