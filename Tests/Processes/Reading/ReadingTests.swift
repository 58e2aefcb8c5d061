import Foundation
import KalijLab
import TestSupport
import Testing

/// What is read, on two devices of an account, and under kills.
@Suite(.serialized) struct ReadingTests {
    /// The unread counts of `kalij chats`, by conversation.
    private func unread(_ kalij: Kalij) throws -> [String: Int] {
        let chats = try kalij("--json", "chats").objects()
        return Dictionary(
            uniqueKeysWithValues: chats.map { ($0["conversation"] as? String ?? "-", $0["unread"] as? Int ?? -1) })
    }

    /// The device is online until its archive was read, and its own places are published.
    private func online(_ kalij: Kalij, until isEnough: () throws -> Bool = { true }) async throws {
        let run = try kalij.running()
        try await run.event("caught_up")
        #expect(try await until(every: 100) { try isEnough() })
        try await kalij.untilAnswered()
        #expect(run.end(SIGTERM).status == 0)
    }

    @Test(
        "cases 17, 19: two devices read in turn: the unread counts are the same in the end; the node keeps an item a conversation"
    )
    func inTurn() async throws {
        try await World.atEachServer(users: ["alice", "bob", "carol", "dave"]) { try await inTurn($0) }
    }

    private func inTurn(_ world: World) async throws {
        let (laboratory, server) = (world.laboratory, world.server)
        let devices = [world.kalij, try Kalij(data: laboratory.path("two"))]
        #expect(try devices[1].login(server).status == 0)
        for device in devices { try await online(device) }
        let contacts = ["bob", "carol", "dave"]
        for round in 1...2 {
            for contact in contacts {
                let peer = Peer(contact, password: "secret", server: server, laboratory: laboratory)
                for number in 1...3 {
                    try await peer.send(
                        raw: """
                            <message to='alice@localhost' type='chat' id='\(contact)-\(round)-\(number)'>\
                            <body>\(contact) \(round) \(number)</body><markable xmlns='urn:xmpp:chat-markers:0'/></message>
                            """)
                }
            }
            let (reader, other) = (devices[round % 2], devices[(round + 1) % 2])
            for device in devices {
                try await online(device) { try unread(device).values.reduce(0, +) == 9 }
            }
            for contact in contacts { #expect(try reader("read", "\(contact)@localhost", "--wait").status == 0) }
            try await online(reader)
            try await online(other) { try unread(other).values.allSatisfy { $0 == 0 } }
            #expect(try unread(reader) == unread(other))
        }
        let items = try devices[0](
            "iq", "alice@localhost",
            """
            <pubsub xmlns='http://jabber.org/protocol/pubsub'><items node='urn:xmpp:mds:displayed:0'/></pubsub>
            """)
        #expect(items.output.components(separatedBy: "<item ").count == 4, "\(items.output)")
        let bob = try Kalij(data: laboratory.path("bob"))
        #expect(try bob.login(server, as: "bob@localhost").status == 0)
        let foreign = try bob(
            "iq", "alice@localhost",
            """
            <pubsub xmlns='http://jabber.org/protocol/pubsub'><items node='urn:xmpp:mds:displayed:0'/></pubsub>
            """)
        #expect(foreign.status == 1 && !foreign.output.contains("<displayed"), "\(foreign.output)")
    }

    /// `Scripts/long reading-kills 1000` is the long form.
    private let kills = LongForm.amount("reading-kills", short: 10)

    @Test(
        "`read` is killed again and again: the contact gets at most one marker for each message, and one for the last")
    func killed() async throws {
        let random = RandomChoices("reading")
        let world = try await World()
        defer { world.close() }
        try await world.online()
        // From now on bob may know what alice has read.
        #expect(try world.kalij("send", "bob@localhost", "before").status == 0)
        let chat = try await world.peer("bob").chat(with: "alice@localhost", label: "text", rate: 25, markers: true)
        for _ in 0..<kills {
            let run = try world.kalij.running()
            try await sleep(for: random.milliseconds(100...800))
            let read = try world.kalij.begun(["read", "bob@localhost", "--wait"])
            try await sleep(for: random.milliseconds(10...400))
            for process in [run, read] {
                process.process.signal(SIGKILL)
                process.process.ended()
            }
        }
        _ = try await chat.stopSending()
        try await world.online()
        #expect(try world.kalij("read", "bob@localhost").status == 0)
        let last = try #require(try chat.events().filter { $0.event == "sent" }.compactMap(\.id).last)
        func markers() throws -> [String] { try chat.events().filter { $0.event == "marker" }.compactMap(\.id) }
        #expect(try await until(every: 100) { try markers().contains(last) })
        // What comes twice comes before the marker of a later message.
        try chat.send(
            raw: """
                <message to='alice@localhost' type='chat' id='later'><body>later</body><markable xmlns='urn:xmpp:chat-markers:0'/></message>
                """)
        let run = try world.kalij.running()
        try await run.event("message") { $0["body"] as? String == "later" }
        #expect(try world.kalij("read", "bob@localhost", "--wait").status == 0)
        #expect(try await until(every: 100) { try markers().contains("later") })
        #expect(run.end(SIGTERM).status == 0)
        let given = try markers()
        print("reading: \(kills) kills, \(given.count) markers")
        #expect(Set(given).count == given.count && given.suffix(2) == [last, "later"])
        #expect(try unread(world.kalij) == ["bob@localhost": 0])
        await chat.quit()
    }
}
