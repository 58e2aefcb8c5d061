import Foundation
import KalijLab
import TestSupport
import Testing

/// A group from its making to its end, with two users of `kalij`, on both servers.
@Suite(.serialized) struct GroupTests {
    /// `kalij` of another user than Alice.
    private static func other(_ user: String, _ world: World) throws -> Kalij {
        let kalij = try Kalij(data: world.laboratory.path("data-\(user)"))
        #expect(try kalij.login(world.server, as: "\(user)@localhost").status == 0)
        return kalij
    }

    /// What a process finds at the server: it may find nothing yet, for others' words are on their way.
    private static func finds(_ kalij: Kalij, _ condition: () throws -> Bool) async throws -> Bool {
        try await until {
            let woken = try kalij("wake", "--budget", "300")
            #expect(woken.status == 0, "\(woken)")
            return try condition()
        }
    }

    private static func room(_ kalij: Kalij) throws -> [String: Any]? { try kalij("--json", "room").objects().first }

    @Test(
        "made, invited, joined, renamed, spoken in, roles, removed, banned, destroyed: each command's outcome, and what others see"
    )
    func life() async throws {
        try await World.atEachServer(users: ["alice", "bob", "carol"]) { world in
            let kind = world.server.kind
            let (bob, carol) = (try Self.other("bob", world), try Self.other("carol", world))
            func succeeds(_ words: String..., by kalij: Kalij? = nil) throws {
                let outcome = try (kalij ?? world.kalij).run(words)
                #expect(outcome.status == 0, "\(kind): \(words): \(outcome.errors)")
            }
            func fails(_ words: String..., by kalij: Kalij? = nil, because reason: String) throws {
                let outcome = try (kalij ?? world.kalij).run(words)
                #expect(outcome.status == 65 && outcome.errors.contains(reason), "\(kind): \(words): \(outcome)")
            }

            try succeeds("room", "create", "Balcony scene", "--invite", "bob@localhost,carol@localhost")
            let made = try #require(try Self.room(world.kalij))
            let room = try #require(made["room"] as? String)
            #expect(made["title"] as? String == "Balcony scene", "\(kind)")
            #expect(made["group"] as? Bool == true && made["room_state"] as? String == "joined", "\(kind): \(made)")

            // Bob is asked once, and is nowhere before he says yes.
            #expect(try await Self.finds(bob) { try !bob("room", "invitations").lines.isEmpty }, "\(kind)")
            let invitations = try bob("--json", "room", "invitations").objects()
            #expect(invitations.map { $0["room"] as? String } == [room], "\(kind)")
            #expect(invitations.first?["inviter"] as? String == "alice@localhost", "\(kind)")
            #expect(try Self.room(bob) == nil)
            #expect(try bob("--json", "history").lines.isEmpty, "\(kind): the invitation is no message")
            try succeeds("room", "join", room, by: bob)
            #expect(try bob("room", "invitations").status == 1)
            try succeeds("room", "join", room, by: carol)

            var members: Set<String> = []
            let areThere = try await Self.finds(world.kalij) {
                let objects = try world.kalij("--json", "room", "members", room).objects()
                members = Set(objects.compactMap { $0["occupant"] as? String ?? $0["member"] as? String })
                return members == ["alice@localhost", "bob@localhost", "carol@localhost"]
            }
            #expect(areThere, "\(kind): \(members)")

            // What is said before reaches whoever was invited.
            try succeeds("send", room, "Good night", "--confirm")
            #expect(try await Self.finds(bob) { try bob("history", room).output.contains("Good night") }, "\(kind)")

            try succeeds("room", "rename", room, "Garden scene")
            try succeeds("room", "subject", room, "parting is such sweet sorrow")
            let isSeen = try await Self.finds(bob) {
                let seen = try Self.room(bob)
                return seen?["title"] as? String == "Garden scene"
                    && seen?["subject"] as? String == "parting is such sweet sorrow"
            }
            let seen = try Self.room(bob)
            #expect(isSeen, "\(kind): \(seen ?? [:])")
            try fails("room", "config", room, "colour=green", because: "has no setting")
            try fails("room", "rename", room, "Mine", by: bob, because: "does not let you")
            try fails("room", "subject", room, "mine", by: bob, because: "does not let you")

            try succeeds("room", "role", room, "bob@localhost", "admin")
            try succeeds("room", "remove", room, "carol@localhost", "--reason", "enough", by: bob)
            #expect(
                try await Self.finds(carol) { try Self.room(carol)?["room_state"] as? String == "refused" }, "\(kind)")
            try succeeds("wake", "--budget", "300")
            try fails("room", "join", room, by: carol, because: "members only")
            try succeeds("room", "remove", room, "carol@localhost", "--ban")
            try fails("room", "join", room, by: carol, because: kind == .prosody ? "members only" : "banned")

            try succeeds("room", "nick", room, "Juliet")
            #expect(try Self.room(world.kalij)?["nick"] as? String == "Juliet", "\(kind)")
            try succeeds("room", "destroy", room, "--reason", "the end")
            #expect(try Self.room(world.kalij)?["room_state"] as? String == "gone", "\(kind)")
            let isOver = try await Self.finds(bob) { try Self.room(bob)?["room_state"] as? String == "gone" }
            let end = try Self.room(bob)
            #expect(isOver, "\(kind): \(end ?? [:])")
            #expect(try bob("history", room).output.contains("Good night"), "\(kind): history stays")
        }
    }

    /// `Scripts/long group-stride 1` tries every commit.
    private static let stride = LongForm.amount("group-stride", short: 12)

    @Test(
        "case 33: making a group is killed at each commit, also with the session lost: one group each, each invited once",
        arguments: [false, true])
    func killed(losesSession: Bool) async throws {
        let options = ServerOptions(resumeSeconds: losesSession ? 2 : 600)
        try await World.atEachServer(options: options, users: ["alice", "bob", "carol"]) { world in
            let (kind, shim) = (world.server.kind, try await CommitShim(in: world.laboratory))
            let (bob, end) = (try Self.other("bob", world), try await SessionEnd("carol", in: world))
            #expect(try bob("wake").status == 0)
            var (made, kills) = (0, 0)
            for (round, number) in Swift.stride(from: losesSession ? 2 : 1, to: 60, by: Self.stride).enumerated() {
                let environment = shim.environment(
                    counter: world.laboratory.path("commits-\(number)"), kill: number,
                    CommitShim.Moment.allCases[round % 3])
                let create = try Running(
                    world.kalij.launch(
                        ["room", "create", "Group \(number)", "--invite", "bob@localhost"], environment: environment))
                let isKilled = create.process.ended() == .killed(SIGKILL)
                // Without an entry in the mailbox nothing was accepted.
                let isAccepted = try await world.sql("SELECT count(*) FROM intent WHERE name = 'create'") != "\(made)\n"
                if losesSession { try await end.wait(for: world.kalij, in: world.laboratory) }
                try await Self.goOn(world)
                let count =
                    Int(try await world.sql("SELECT count(*) FROM intent WHERE name = 'create'").dropLast()) ?? 0
                #expect(count == made + 1 || !isAccepted && isKilled && count == made, "\(kind), commit \(number)")
                made = count
                guard isKilled else { break }
                kills += 1
            }
            // In the last session the rooms may still have to be entered.
            let run = try world.kalij.running()
            try await run.event("online")
            let isIn = try await until(every: 200) {
                try await world.sql("SELECT count(*) FROM room WHERE wanted AND state <> 'joined'") == "0\n"
            }
            #expect(run.end(SIGTERM).status == 0)
            #expect(isIn, "\(kind)")
            let rooms = try world.kalij("--json", "room").objects()
            let groups = rooms.filter { $0["room_state"] as? String == "joined" && $0["group"] as? Bool == true }
            print("groups at \(kind): \(kills) kills, \(made) made, sessions lost: \(losesSession)")
            let problems = try await world.sql(
                "SELECT id, problem FROM intent WHERE name = 'create'; SELECT * FROM room_plan")
            #expect(groups.count == made, "\(kind): \(rooms.count) rooms, \(groups.count) groups; \(problems)")
            #expect(rooms.count { $0["wanted"] as? Bool == true } == made, "\(kind): \(rooms)")
            // The far end: each invitation came once, and lets in.
            var invitations: [String] = []
            _ = try await Self.finds(bob) {
                invitations = try bob("--json", "room", "invitations").objects().compactMap { $0["room"] as? String }
                return invitations.count >= made
            }
            #expect(Set(invitations) == Set(groups.compactMap { $0["room"] as? String }), "\(kind)")
            let sent = try await world.laboratory.run(
                "/usr/bin/sqlite3", [bob.data + "/kalij.db", "SELECT count(*) FROM message WHERE shown = 0"])
            #expect(sent == "\(made)\n", "\(kind): an invitation came twice")
            for room in invitations.prefix(2) { #expect(try bob("room", "join", room).status == 0, "\(kind)") }
        }
    }

    /// Another process goes on until no group is in the making.
    private static func goOn(_ world: World) async throws {
        let isMade = try await until {
            _ = try world.kalij("flush")
            return try await world.sql("SELECT count(*) FROM room_plan") == "0\n"
        }
        #expect(isMade, "\(world.server.kind)")
    }

    @Test("an invitation through the room and a direct one are one question; declined, it is gone")
    func invitations() async throws {
        try await World.atEachServer { world in
            let kind = world.server.kind
            let bob = world.peer("bob")
            let chat = try await bob.chat(
                with: "orchard@conference.localhost", label: "x", rate: 1, count: 0, nick: "bob")
            try chat.send(
                raw: """
                    <message to='orchard@conference.localhost'><x xmlns='http://jabber.org/protocol/muc#user'>\
                    <invite to='alice@localhost'><reason>come</reason></invite></x></message>
                    """)
            try chat.send(
                raw: """
                    <message to='alice@localhost'><x xmlns='jabber:x:conference' jid='orchard@conference.localhost'/>\
                    <store xmlns='urn:xmpp:hints'/><body>You are invited</body></message>
                    """)
            // Not every invitation is one.
            try chat.send(
                raw: """
                    <message to='alice@localhost'><x xmlns='jabber:x:conference' jid='no room'/>\
                    <store xmlns='urn:xmpp:hints'/></message>
                    """)
            // The text after the invitations.
            try chat.send(
                raw: "<message to='alice@localhost' type='chat' id='last'><body>So?</body></message>")
            let isThere = try await Self.finds(world.kalij) {
                try world.kalij("history", "bob@localhost").output.contains("So?")
            }
            #expect(isThere, "\(kind)")
            let waiting = try world.kalij("--json", "room", "invitations").objects()
            #expect(waiting.count == 1, "\(kind): \(waiting)")
            #expect(try world.kalij("room", "decline", "orchard@conference.localhost").status == 0)
            #expect(try world.kalij("room", "invitations").status == 1)
            let again = try world.kalij("room", "decline", "orchard@conference.localhost")
            #expect(again.status == 65 && again.errors.contains("nobody has invited you"), "\(again)")
            await chat.quit()
        }
    }
}
