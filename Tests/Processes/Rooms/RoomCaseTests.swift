import Foundation
import KalijLab
import Testing

/// Rooms on both servers: cases that a random run hardly meets.
@Suite(.serialized) struct RoomCaseTests {
    private static let room = "orchard@conference.localhost"

    /// A room with Bob, its owner, and Alice.
    private struct Scene: Sendable {
        let world: World
        let bob: Chat
        var kind: ServerKind { world.server.kind }

        /// - Parameter fields: the configuration of the room, by Prosody's names and ejabberd's.
        init(
            _ kind: ServerKind, resumeSeconds: Int = 600, fields: [ServerKind: [String: String]] = [:]
        ) async throws {
            world = try await World(kind, options: ServerOptions(resumeSeconds: resumeSeconds))
            bob = try await world.peer("bob").chat(
                with: RoomCaseTests.room, label: "x", rate: 1, count: 0, nick: "bob", fields: fields[kind] ?? [:])
        }

        static func atEachServer(
            resumeSeconds: Int = 600, fields: [ServerKind: [String: String]] = [:],
            kinds: [ServerKind] = ServerKind.allCases,
            _ body: @Sendable @escaping (Scene) async throws -> Void
        ) async throws {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for kind in kinds {
                    group.addTask {
                        let scene = try await Scene(kind, resumeSeconds: resumeSeconds, fields: fields)
                        defer { scene.world.close() }
                        try await body(scene)
                        await scene.bob.quit()
                    }
                }
                try await group.waitForAll()
            }
        }

        func join(_ more: String...) throws {
            let outcome = try world.kalij.run(["room", "join", RoomCaseTests.room] + more)
            #expect(outcome.status == 0, "\(kind): \(outcome)")
        }

        var state: [String: Any] {
            get throws { try world.kalij("--json", "room").objects().first ?? [:] }
        }

        func becomes(_ wanted: String, seconds: Double = 20) async throws {
            let isSo = try await until(seconds) { try self.state["room_state"] as? String == wanted }
            let state = try state
            #expect(isSo, "\(kind): not \(wanted): \(state)")
        }

        func admin(_ item: String) throws {
            try bob.send(
                raw: """
                    <iq type='set' id='\(UUID().uuidString)' to='\(RoomCaseTests.room)'>\
                    <query xmlns='http://jabber.org/protocol/muc#admin'>\(item)</query></iq>
                    """)
        }

        func configure(_ fields: [String: String]) throws {
            let items = fields.map { "<field var='\($0.key)'><value>\($0.value)</value></field>" }.joined()
            try bob.send(
                raw: """
                    <iq type='set' id='\(UUID().uuidString)' to='\(RoomCaseTests.room)'>\
                    <query xmlns='http://jabber.org/protocol/muc#owner'><x xmlns='jabber:x:data' type='submit'>\
                    <field var='FORM_TYPE'><value>http://jabber.org/protocol/muc#roomconfig</value></field>\(items)</x></query></iq>
                    """)
        }

        func destroy() throws {
            try bob.send(
                raw: """
                    <iq type='set' id='\(UUID().uuidString)' to='\(RoomCaseTests.room)'>\
                    <query xmlns='http://jabber.org/protocol/muc#owner'><destroy/></query></iq>
                    """)
        }

        func say(_ text: String) throws {
            try bob.send(
                raw: """
                    <message type='groupchat' to='\(RoomCaseTests.room)' id='\(UUID().uuidString)'><body>\(text)</body>\
                    </message>
                    """)
        }

        /// What Bob has heard of Alice.
        func heard() throws -> [String] {
            try bob.events().filter {
                $0.event == "received" && $0.sender?.hasPrefix("\(RoomCaseTests.room)/alice") == true
            }
            .compactMap(\.body)
        }

        /// The states of Alice's messages.
        func sent() throws -> [String] {
            try world.kalij("--json", "history", RoomCaseTests.room).objects()
                .filter { $0["direction"] as? String == "out" }
                .map { "\($0["body"] ?? "") \($0["state"] ?? "")\($0["unsettled"] == nil ? "" : " unsettled")" }
        }
    }

    private static let noArchive: [ServerKind: [String: String]] = [
        .prosody: ["muc#roomconfig_enablearchiving": "0", "muc#roomconfig_persistentroom": "1"],
        .ejabberd: ["mam": "0", "muc#roomconfig_persistentroom": "1"],
    ]

    @Test(
        "case 29: a room without an archive: its history proves, and what is missing is sent again; all once, in order")
    func withoutArchive() async throws {
        try await Scene.atEachServer(resumeSeconds: 2, fields: Self.noArchive) { scene in
            try scene.join()
            #expect(try scene.state["archive"] as? Bool == false, "\(scene.kind)")
            try scene.say("before")
            let run = try scene.world.kalij.running()
            try await run.event("message") { $0["body"] as? String == "before" }
            for text in ["one", "two", "three"] {
                #expect(try scene.world.kalij("send", Self.room, text, "--queue-only").status == 0)
            }
            try await Task.sleep(for: .milliseconds(60))
            run.process.signal(SIGKILL)
            run.process.ended(within: 10)
            try await Task.sleep(for: .seconds(3.2))
            try scene.say("meanwhile")
            let next = try scene.world.kalij.running()
            let isDone = try await until(60, every: 200) {
                try await scene.world.sql("SELECT count(*) FROM room_message") == "0\n"
            }
            let (heard, sent) = (try scene.heard(), try scene.sent())
            #expect(isDone && heard == ["one", "two", "three"], "\(scene.kind): \(heard) \(sent)")
            #expect(sent == ["one delivered", "two delivered", "three delivered"], "\(scene.kind)")
            #expect(next.end(SIGTERM).status == 0)
        }
    }

    @Test(
        "case 30: kicked, banned, made members-only, destroyed while hibernating: told after the resume, not joined again"
    )
    func removed() async throws {
        for (what, state) in [
            ("kick", "refused"), ("ban", "refused"), ("members", "refused"), ("destroy", "gone"),
        ] {
            try await Scene.atEachServer { scene in
                try scene.join()
                switch what {
                case "kick": try scene.admin("<item nick='alice' role='none'><reason>enough</reason></item>")
                case "ban": try scene.admin("<item jid='alice@localhost' affiliation='outcast'/>")
                case "members": try scene.configure(["muc#roomconfig_membersonly": "1"])
                default: try scene.destroy()
                }
                try await Task.sleep(for: .seconds(1))
                let run = try scene.world.kalij.running()
                try await scene.becomes(state)
                try await Task.sleep(for: .seconds(1))
                #expect(try scene.state["room_state"] as? String == state, "\(scene.kind), \(what)")
                #expect(run.end(SIGTERM).status == 0)
                let joins = try scene.bob.events().count {
                    $0.event == "presence" && $0.sender == "\(Self.room)/alice" && $0.type == nil
                }
                #expect(joins == 1, "\(scene.kind), \(what): joined again")
            }
        }
    }

    @Test(
        "case 31: the room was destroyed while the account was away, and the session is lost: nobody becomes its owner")
    func destroyedWhileAway() async throws {
        try await Scene.atEachServer(resumeSeconds: 2) { scene in
            try scene.join()
            // The list of rooms names it.
            #expect(try scene.world.kalij("wake").status == 0)
            try await Task.sleep(for: .seconds(3.2))
            try scene.destroy()
            try await Task.sleep(for: .seconds(1))
            let run = try scene.world.kalij.running()
            try await run.event("caught_up")
            try await scene.becomes(scene.kind == .prosody ? "gone" : "absent")
            #expect(run.end(SIGTERM).status == 0)
            let question = "<query xmlns='http://jabber.org/protocol/disco#info'/>"
            #expect(
                try scene.world.kalij("iq", Self.room, question).status == 1, "\(scene.kind): the room is there again")
        }
    }

    @Test("case 32: the nickname is taken; another device of the account has the same: all is ours, nothing notifies")
    func nicknames() async throws {
        try await Scene.atEachServer { scene in
            try scene.join("--nick", "bob")
            #expect(try scene.state["nick"] as? String == "bob-2", "\(scene.kind)")
            #expect(try scene.world.kalij("room", "nick", Self.room, "alice").status == 0)
            let phone = try Kalij(data: scene.world.laboratory.path("phone"))
            #expect(try phone.login(scene.world.server).status == 0)
            #expect(try phone("room", "join", Self.room, "--nick", "alice").status == 0)
            #expect(try phone("send", Self.room, "from the phone", "--confirm").status == 0)
            #expect(try phone("send", Self.room, "bob, look", "--confirm").status == 0)
            let woken = try scene.world.kalij("--json", "wake")
            #expect(try woken.notified() == [], "\(scene.kind): \(woken.output)")
            #expect(
                try scene.sent() == ["from the phone delivered", "bob, look delivered"],
                "\(scene.kind)")
        }
    }

    @Test(
        "case 35: an open room in which everybody sees addresses: entered only with consent; told when it becomes one")
    func open() async throws {
        try await Scene.atEachServer { scene in
            try scene.join()
            let run = try scene.world.kalij.running()
            try await run.event("online")
            try scene.configure(["muc#roomconfig_whois": "anyone"])
            let isTold = try await until(20) {
                try await scene.world.sql("SELECT info & 2 FROM room") == "2\n"
            }
            #expect(isTold, "\(scene.kind): nobody was told")
            #expect(try scene.world.kalij("room", "leave", Self.room).status == 0)
            try await Task.sleep(for: .milliseconds(500))
            let refused = try scene.world.kalij("room", "join", Self.room)
            #expect(refused.status == 65 && refused.errors.contains("--show-address"), "\(scene.kind): \(refused)")
            try scene.join("--show-address")
            #expect(run.end(SIGTERM).status == 0)
        }
    }

    @Test("case 28: the service restarts: the next message arrives once, and is not acknowledged for ever")
    func restart() async throws {
        try await Scene.atEachServer { scene in
            try scene.join()
            let run = try scene.world.kalij.running()
            try await run.event("online")
            #expect(try scene.world.kalij("send", Self.room, "before", "--confirm").status == 0)
            await scene.world.server.stop()
            #expect(try scene.world.kalij("send", Self.room, "meanwhile", "--queue-only").status == 0)
            try await scene.world.server.start()
            let isDone = try await until(90, every: 200) {
                try scene.sent() == ["before delivered", "meanwhile delivered"]
            }
            let sent = try scene.sent()
            #expect(isDone, "\(scene.kind): \(sent)")
            // The far end: the room's archive, as another device reads it.
            let other = try Kalij(data: scene.world.laboratory.path("other"))
            #expect(try other.login(scene.world.server).status == 0)
            #expect(try other("room", "join", Self.room).status == 0)
            _ = try other("wake")
            let bodies = try other("--json", "history", Self.room).objects().compactMap { $0["body"] as? String }
            #expect(bodies.filter { $0 == "meanwhile" } == ["meanwhile"], "\(scene.kind): \(bodies)")
            #expect(run.end(SIGTERM).status == 0)
        }
    }
}
