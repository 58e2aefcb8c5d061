import Foundation
import KalijLab
import TestSupport
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
            world = try await World(
                kind, options: ServerOptions(resumeSeconds: resumeSeconds), users: ["alice", "bob", "carol"])
            bob = try await world.peer("bob").chat(
                with: RoomCaseTests.room, label: "x", rate: 1, count: 0, operations: true, nick: "bob",
                fields: fields[kind] ?? [:])
        }

        static func atEachServer(
            resumeSeconds: Int = 600, fields: [ServerKind: [String: String]] = [:],
            _ body: @Sendable @escaping (Scene) async throws -> Void
        ) async throws {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for kind in LongForm.servers {
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

        func becomes(_ wanted: String) async throws {
            let isSo = try await until { try self.state["room_state"] as? String == wanted }
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

        func say(_ text: String) throws { try say(content: "<body>\(text)</body>", id: UUID().uuidString) }

        /// - Parameter chat: whoever says it; nil for Bob.
        func say(content: String, id: String, as chat: Chat? = nil) throws {
            try (chat ?? bob).send(
                raw: "<message type='groupchat' to='\(RoomCaseTests.room)' id='\(id)'>\(content)</message>")
        }

        /// What Bob has heard of Alice.
        func heard() throws -> [String] {
            try bob.events().filter {
                $0.event == "received" && $0.sender?.hasPrefix("\(RoomCaseTests.room)/alice") == true
            }
            .compactMap(\.body)
        }

        /// Bob, who is in the room, has heard so many times that an occupant went.
        func goes(_ nick: String, times: Int = 1) async throws {
            let isGone = try await until {
                try bob.events().count {
                    $0.event == "presence" && $0.sender == "\(RoomCaseTests.room)/\(nick)" && $0.type == "unavailable"
                } >= times
            }
            #expect(isGone, "\(kind): \(nick) is still there")
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

    private static func replace(_ id: String) -> String { "<replace xmlns='urn:xmpp:message-correct:0' id='\(id)'/>" }

    @Test(
        "cases 3 to 5: corrections, retractions and reactions both ways; whoever takes the nickname of an author changes nothing",
        arguments: ["anyone", "moderators"])
    func operations(whois: String) async throws {
        let fields = ["muc#roomconfig_whois": whois, "muc#roomconfig_persistentroom": "1"]
        try await Scene.atEachServer(fields: [.prosody: fields, .ejabberd: fields]) { scene in
            try scene.join("--show-address")
            let (kalij, kind) = (scene.world.kalij, scene.kind)
            let run = try kalij.running()
            try await run.event("caught_up")
            func lines() throws -> [String] {
                try kalij("--json", "history", Self.room).objects().map { line in
                    let emoji = (line["reactions"] as? [String: [String]] ?? [:]).values.joined().joined()
                    let marks = ["edited", "retracted", "corrects"].filter { line[$0] != nil }.joined(separator: " ")
                    return [line["body"] as? String ?? "-", marks, emoji].filter { !$0.isEmpty }.joined(separator: " ")
                }
            }
            func becomes(_ wanted: [String]) async throws {
                let isSo = try await until(every: 100) { try lines() == wanted }
                let shown = try lines()
                #expect(isSo, "\(kind), \(whois): \(shown), not \(wanted)")
            }
            func says(_ text: String, _ id: String) async throws {
                #expect(try kalij("send", Self.room, text, "--id", id).status == 0, "\(kind)")
                #expect(try await until(every: 50) { try scene.sent().last == "\(text) delivered" }, "\(kind)")
            }
            try scene.say(content: "<body>eins</body>", id: "b1")
            try scene.say(content: "<body>zwei</body>", id: "b2")
            try await becomes(["eins", "zwei"])
            try scene.say(content: "<body>one</body>" + Self.replace("b1"), id: "b3")
            try await becomes(["one edited", "zwei"])
            #expect(try kalij("react", "b1", "👍", "--wait").status == 0, "\(kind)")
            try await says("teh", "k1")
            #expect(try kalij("correct", "k1", "the", "--wait").status == 0, "\(kind)")
            try await says("gone", "k2")
            #expect(try kalij("retract", "k2", "--wait").status == 0, "\(kind)")
            try await becomes(["one edited 👍", "zwei", "the edited", "- retracted"])

            // What Bob has got.
            let events = try scene.bob.events()
            func archived(_ body: String) -> String? {
                events.first { $0.body == body && $0.archived != nil }?.archived
            }
            #expect(archived("eins") != nil && archived("gone") != nil, "\(kind)")
            let operated = events.filter { $0.event == "operated" && $0.sender == "\(Self.room)/alice" }
                .map { "\($0.kind ?? "") \($0.target ?? "") \($0.body ?? "-")" }
            #expect(
                operated == [
                    "reaction \(archived("eins") ?? "none") 👍", "correction k1 the",
                    "retraction \(archived("gone") ?? "none") -",
                ], "\(kind), \(whois)")

            // Carol takes Bob's nickname.
            try scene.bob.send(raw: "<presence type='unavailable' to='\(Self.room)/bob'/>")
            try await run.event("occupant") { $0["nick"] as? String == "bob" && $0["present"] as? Bool == false }
            let carol = try await scene.world.peer("carol").chat(
                with: Self.room, label: "x", rate: 1, count: 0, operations: true, nick: "bob")
            try scene.say(content: "<body>else</body>" + Self.replace("b1"), id: "c1", as: carol)
            try scene.say(
                content: "<retract xmlns='urn:xmpp:message-retract:1' id='\(archived("zwei") ?? "")'/>", id: "c2",
                as: carol)
            try scene.say(content: "<body>end</body>", id: "c3", as: carol)
            try await becomes(["one edited 👍", "zwei", "the edited", "- retracted", "else corrects", "end"])

            // The same from the archive, on another device.
            let device = try Kalij(data: scene.world.laboratory.path("device"))
            #expect(try device.login(scene.world.server).status == 0)
            #expect(try device("room", "join", Self.room, "--show-address").status == 0, "\(kind)")
            #expect(run.end(SIGTERM).status == 0)
            let other = try device.running()
            try await other.event("caught_up")
            let proven = whois == "anyone" || kind == .prosody
            let texts =
                (proven ? ["one", "zwei", "the"] : ["eins", "zwei", "one", "the"])
                + (kind.erasesRetracted ? [] : ["-"]) + ["else", "end"]
            let isSame = try await until(every: 100) {
                try device("--json", "history", Self.room).objects().map { $0["body"] as? String ?? "-" } == texts
            }
            let shown = try device("history", Self.room).output
            #expect(isSame, "\(kind), \(whois): \(shown)")
            #expect(other.end(SIGTERM).status == 0)
            await carol.quit()
        }
    }

    @Test(
        "case 29: a room without an archive: its history proves, and what is missing is sent again; all once, in order")
    func withoutArchive() async throws {
        // The first resumption may try a letter that ejabberd throws away: two seconds of silence.
        try await Scene.atEachServer(resumeSeconds: 5, fields: Self.noArchive) { scene in
            try scene.join()
            #expect(try scene.state["archive"] as? Bool == false, "\(scene.kind)")
            try scene.say("before")
            let run = try scene.world.kalij.running()
            try await run.event("message") { $0["body"] as? String == "before" }
            for text in ["one", "two", "three"] {
                #expect(try scene.world.kalij("send", Self.room, text, "--queue-only").status == 0)
            }
            // The moment of the kill: some of the texts are on their way.
            try await sleep(for: .milliseconds(60))
            run.process.signal(SIGKILL)
            run.process.ended()
            try await scene.world.sessionEnds()
            try scene.say("meanwhile")
            let next = try scene.world.kalij.running()
            let isDone = try await until(every: 200) {
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
        try await Scene.atEachServer { scene in
            for (round, (what, state)) in [
                ("kick", "refused"), ("ban", "refused"), ("members", "refused"), ("destroy", "gone"),
            ].enumerated() {
                // What kept Alice out was taken back, perhaps a moment ago.
                let isIn = try await until { try scene.world.kalij("room", "join", Self.room).status == 0 }
                #expect(isIn, "\(scene.kind), \(what)")
                try await Self.remove(what, scene, round + 1)
                let run = try scene.world.kalij.running()
                try await scene.becomes(state)
                // Had the process joined again, then before this answer.
                let room = try scene.world.kalij("disco", Self.room)
                #expect(try scene.state["room_state"] as? String == state, "\(scene.kind), \(what)")
                #expect(run.end(SIGTERM).status == 0)
                if what == "destroy" {
                    #expect(room.status != 0, "\(scene.kind): the room is there again: \(room)")
                } else {
                    try await Self.takeBack(what, scene)
                    let joins = try scene.bob.events().count {
                        $0.event == "presence" && $0.sender == "\(Self.room)/alice" && $0.type == nil
                    }
                    #expect(joins == round + 1, "\(scene.kind), \(what): joined again")
                }
            }
        }
    }

    /// Alice is removed; comes back once the room has told so.
    private static func remove(_ what: String, _ scene: Scene, _ times: Int) async throws {
        switch what {
        case "kick": try scene.admin("<item nick='alice' role='none'><reason>enough</reason></item>")
        case "ban": try scene.admin("<item jid='alice@localhost' affiliation='outcast'/>")
        case "members": try scene.configure(["muc#roomconfig_membersonly": "1"])
        default: try scene.destroy()
        }
        switch what {
        case "destroy": try await scene.goes("bob")
        // Prosody 13 sends the removal to the removed occupant alone.
        case "members": try await hears("after the configuration", scene)
        default: try await scene.goes("alice", times: times)
        }
    }

    /// Bob has heard all that the room said before.
    private static func hears(_ text: String, _ scene: Scene) async throws {
        try scene.say(text)
        let isHeard = try await until { try scene.bob.events().contains { $0.body == text } }
        #expect(isHeard, "\(scene.kind)")
    }

    /// Alice may enter again; comes back once Bob has heard all that the room said before.
    private static func takeBack(_ what: String, _ scene: Scene) async throws {
        switch what {
        case "ban": try scene.admin("<item jid='alice@localhost' affiliation='none'/>")
        case "members": try scene.configure(["muc#roomconfig_membersonly": "0"])
        default: break
        }
        try await hears("after the \(what)", scene)
    }

    @Test(
        "case 31: the room was destroyed while the account was away, and the session is lost: nobody becomes its owner")
    func destroyedWhileAway() async throws {
        try await Scene.atEachServer(resumeSeconds: 2) { scene in
            try scene.join()
            // The list of rooms names it.
            #expect(try scene.world.kalij("wake").status == 0)
            try await scene.world.sessionEnds()
            try scene.destroy()
            try await scene.goes("bob")
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
            let isTold = try await until {
                try await scene.world.sql("SELECT info & 2 FROM room") == "2\n"
            }
            #expect(isTold, "\(scene.kind): nobody was told")
            #expect(try scene.world.kalij("room", "leave", Self.room).status == 0)
            try await scene.becomes("left")
            let refused = try scene.world.kalij("room", "join", Self.room)
            #expect(refused.status == 65 && refused.errors.contains("--show-address"), "\(scene.kind): \(refused)")
            try scene.join("--show-address")
            #expect(run.end(SIGTERM).status == 0)
        }
    }

    @Test(
        "case 28: the service restarts, and the process dies: the next message arrives once, and is not acknowledged for ever"
    )
    func restart() async throws {
        try await Scene.atEachServer { scene in
            try scene.join()
            let run = try scene.world.kalij.running()
            try await run.event("online")
            #expect(try scene.world.kalij("send", Self.room, "before", "--confirm").status == 0)
            await scene.world.server.stop()
            #expect(try scene.world.kalij("send", Self.room, "meanwhile", "--queue-only").status == 0)
            try await scene.world.server.start()
            run.process.signal(SIGKILL)
            run.process.ended()
            let next = try scene.world.kalij.running()
            let isDone = try await until(every: 200) {
                try scene.sent() == ["before delivered", "meanwhile delivered"]
            }
            let sent = try scene.sent()
            #expect(isDone, "\(scene.kind): \(sent)")
            // The far end: the room's archive, as another device reads it.
            let other = try Kalij(data: scene.world.laboratory.path("other"))
            #expect(try other.login(scene.world.server).status == 0)
            #expect(try other("room", "join", Self.room).status == 0)
            // A `wake` does not wait for the page from before the joining.
            var bodies: [String] = []
            _ = try await until {
                _ = try other("wake")
                bodies = try other("--json", "history", Self.room).objects().compactMap { $0["body"] as? String }
                return !bodies.isEmpty
            }
            #expect(bodies.filter { $0 == "meanwhile" } == ["meanwhile"], "\(scene.kind): \(bodies)")
            #expect(next.end(SIGTERM).status == 0)
        }
    }
}
