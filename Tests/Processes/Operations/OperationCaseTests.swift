import Foundation
import Glibc
import KalijLab
import Testing

/// Operations with real servers: cases that a random run hardly meets.
@Suite(.serialized) struct OperationCaseTests {
    private static let (bob, carol) = ("bob@localhost", "carol@localhost")

    @Test(
        "cases 1, 3, 5 to 8: before or after their messages, live or from the archive, forged or not, operations show the same"
    )
    func orders() async throws {
        try await World.atEachServer(users: ["alice", "bob", "carol", "mallory"]) { world in
            let run = try world.kalij.running()
            try await run.event("caught_up")
            try await Self.unknownRetraction(world)
            // Carol's operations come before their messages, bob's after. A stranger changes nothing of either.
            for contact in ["bob", "carol"] {
                let operations = Self.operations(contact).joined()
                try await world.peer("mallory").send(raw: Self.operations(contact, by: "forged").joined())
                if contact == "carol" { try await world.peer("carol").send(raw: operations) }
                try await world.peer(contact).send(raw: Self.texts(contact).joined())
                if contact == "bob" { try await world.peer("bob").send(raw: operations) }
                // Case 7: the user's phone reacts, and takes the reaction back.
                try await world.peer("alice").send(raw: Self.reaction("❤️", contact) + Self.reaction(nil, contact))
            }
            var (ofBob, ofCarol): ([String], [String]) = ([], [])
            let expected = [
                "false nothing [:]", "false one, once more [:]", "false three [\"CONTACT\": [\"👍\"]]",
                "false whatever [:]",
                "true nothing [:]",
            ]
            let isRight = try await until(every: 100) {
                (ofBob, ofCarol) = (try Self.shown("bob", world.kalij), try Self.shown("carol", world.kalij))
                return ofBob == expected && ofCarol == expected
            }
            #expect(isRight, "\(world.server.kind): \(ofBob) \(ofCarol)")
            // Another device has all from the archive.
            let late = try Kalij(data: world.laboratory.path("late"))
            #expect(try late.login(world.server).status == 0)
            let reading = try late.running()
            try await reading.event("caught_up")
            // ejabberd may archive late: the archive is read again.
            let left = world.server.kind.erasesRetracted ? expected.filter { !$0.hasPrefix("true") } : expected
            let isComplete = try await until(every: 100) {
                (ofBob, ofCarol) = (try Self.shown("bob", late), try Self.shown("carol", late))
                // Carol's retraction came before its message.
                return ofBob == left && ofCarol == expected
            }
            #expect(isComplete, "\(world.server.kind): \(ofBob) \(ofCarol)")
            for process in [run, reading] { #expect(process.end(SIGTERM).status == 0) }
        }
    }

    /// Case 6: no fallback is shown, and nothing is unread.
    private static func unknownRetraction(_ world: World) async throws {
        try await world.peer("carol").send(raw: operations("carol")[2])
        #expect(try await until(every: 50) { try await world.sql("SELECT count(*) FROM operation") == "1\n" })
        #expect(try world.kalij("history", carol).status == 1)
        #expect(try world.kalij("chats").output == "")
    }

    private static func texts(_ prefix: String) -> [String] {
        [
            "<body>one</body>", "<body>two</body>", "<body>three</body>",
            "<body>sealed</body><encryption xmlns='urn:xmpp:eme:0' namespace='urn:xmpp:omemo:2'/>",
        ].enumerated().map { message("\(prefix)-\($0 + 1)", $1) }
    }

    /// Two corrections, of which the second names the first; a retraction, a reaction, and a plain correction of a sealed text.
    private static func operations(_ prefix: String, by author: String = "") -> [String] {
        let name = prefix + author
        let replace = "<replace xmlns='urn:xmpp:message-correct:0'"
        return [
            message(name + "-c1", "<body>one, corrected</body>\(replace) id='\(prefix)-1'/>"),
            message(name + "-c2", "<body>one, once more</body>\(replace) id='\(name)-c1'/>"),
            message(
                name + "-r",
                "<retract xmlns='urn:xmpp:message-retract:1' id='\(prefix)-2'/><body>This is retracted.</body>"),
            message(
                name + "-e",
                "<reactions xmlns='urn:xmpp:reactions:0' id='\(prefix)-3'><reaction>👍</reaction></reactions>"),
            message(name + "-s", "<body>whatever</body>\(replace) id='\(prefix)-4'/>"),
        ]
    }

    private static func reaction(_ emoji: String?, _ contact: String) -> String {
        let reactions = emoji.map { "<reaction>\($0)</reaction>" } ?? ""
        return message(
            UUID().uuidString, "<reactions xmlns='urn:xmpp:reactions:0' id='\(contact)-3'>\(reactions)</reactions>",
            to: contact)
    }

    private static func message(_ id: String, _ content: String, to user: String = "alice") -> String {
        """
        <message to='\(user)@localhost' type='chat' id='\(id)'>\(content)<store xmlns='urn:xmpp:hints'/>\
        <origin-id xmlns='urn:xmpp:sid:0' id='\(id)'/></message>
        """
    }

    /// What is shown of a conversation, whatever the order: a correction that is a line of its own has its own place.
    private static func shown(_ user: String, _ kalij: Kalij) throws -> [String] {
        try kalij("--json", "history", user + "@localhost").objects().filter { $0["event"] as? String == "message" }
            .map { record in
                let reactions = "\(record["reactions"] as? [String: [String]] ?? [:])"
                return """
                    \(record["retracted"] as? Bool ?? false) \(record["body"] as? String ?? "nothing") \
                    \(reactions.replacing("\(user)@localhost", with: "CONTACT"))
                    """
            }.sorted()
    }

    @Test(
        "case 11: a text is corrected offline, the process is killed and the session lost: both are archived once, in order"
    )
    func correctedOffline() async throws {
        try await World.atEachServer(options: ServerOptions(resumeSeconds: 2)) { world in
            // Without a message from before nobody could say whether the archive still has what is sent now.
            try await world.send(["before"])
            let first = try world.kalij.running()
            try await first.event("message")
            #expect(first.end(SIGTERM).status == 0)
            #expect(try world.kalij("send", Self.bob, "written", "--id", "text", "--queue-only").status == 0)
            let result = try world.kalij("--json", "correct", "text", "corrected", "--queue-only")
            let correction = try #require(try result.objects().first?["origin_id"] as? String)
            // Moments before and while the texts leave.
            for milliseconds in [20, 60, 90, 0] {
                let run = try world.kalij.running()
                if milliseconds == 0 { try await run.event("online") }
                try await sleep(for: .milliseconds(milliseconds))
                run.process.signal(SIGKILL)
                run.process.ended()
            }
            try await world.sessionEnds()
            let run = try world.kalij.running()
            // What comes twice comes before what is said last.
            #expect(try world.kalij("send", Self.bob, "the end", "--id", "end", "--queue-only").status == 0)
            var archived: [String?] = []
            let isThere = try await until(every: 300) {
                archived = try await world.peer("bob").archive().map(\.id)
                return archived.contains("end") && archived.contains(correction)
            }
            #expect(isThere)
            #expect(Array(archived.dropFirst()) == ["text", correction, "end"], "\(world.server.kind)")
            #expect(run.end(SIGTERM).status == 0)
        }
    }
}
