import Foundation
import KalijLab
import Testing

/// A second, independent client of the same account: what one sends and reads, the other has.
@Suite(.serialized) struct ProfanityTests {
    private static let (alice, bob) = ("alice@localhost", "bob@localhost")
    /// A session without a connection ends after so many seconds.
    private static let patience = 2

    @Test(
        "profanity and kalij on one account: texts, corrections, receipts, contacts and blocks of each are the other's, too"
    )
    func both() async throws {
        let options = ServerOptions(resumeSeconds: Self.patience)
        try await World.atEachServer(options: options, users: ["alice", "bob", "carol"]) { try await Self.both($0) }
    }

    private static func both(_ world: World) async throws {
        let kalij = world.kalij
        var run = try kalij.running()
        try await run.event("caught_up")
        let listening = try await world.peer("bob").chat(
            with: alice, label: "", rate: 0, count: 0, originIDs: true, receipts: true, operations: true, markers: true)
        let profanity = try await Profanity("alice", in: world)
        try await texts(world, profanity, listening)
        try await contacts(world, profanity)

        // Without `kalij`, and without its session.
        #expect(run.end(SIGTERM).status == 0)
        try await world.sessionEnds(askedBy: "carol")
        try profanity.type("/msg bob@localhost sent alone")
        #expect(try await until(every: 50) { try listening.events().contains { $0.body == "sent alone" } })
        try ask("heard alone", listening)
        let isAnswered = try await until(every: 50) { try listening.given("receipt", for: "heard alone") >= 1 }
        #expect(isAnswered, "profanity answers")
        run = try kalij.running()
        try await run.event("caught_up")
        let all = [
            "from kalij, corrected", "from profanity, corrected", "heard by both", "gone", "sent alone", "heard alone",
        ]
        var shown: [[String: Any]] = []
        let isThere = try await until(every: 200) {
            shown = try kalij("--json", "history", bob).objects()
            return shown.count == all.count && shown.allSatisfy { ($0["state"] ?? "delivered") as? String != "acked" }
        }
        #expect(isThere, "\(world.server.kind): \(shown)")
        #expect(shown.map { $0["body"] as? String ?? "gone" } == all, "\(world.server.kind)")
        // A second answer would come before what is said now.
        #expect(try kalij("send", bob, "the end").status == 0)
        #expect(try await until(every: 50) { try listening.events().contains { $0.body == "the end" } })
        // ejabberd archives no receipts of others without a hint; so this client does not know that the other has answered.
        let answers = try listening.given("receipt", for: "heard alone")
        #expect(world.server.kind == .prosody ? answers == 1 : 1...2 ~= answers, "\(answers)")
        #expect(run.end(SIGTERM).status == 0)
        profanity.quit()
        await listening.quit()
    }

    private static func texts(_ world: World, _ profanity: Profanity, _ listening: Chat) async throws {
        let kalij = world.kalij
        func isHere(_ body: String) async throws -> Bool {
            try await until(every: 100) { try kalij("history", bob).output.contains(body) }
        }
        func expectThere(
            _ text: Profanity.Text, sourceLocation: SourceLocation = #_sourceLocation
        ) async throws {
            let isThere = try await until(every: 100) { try await profanity.texts().contains(text) }
            if isThere { return }
            let (has, heard) = (try await profanity.texts(), try listening.events().compactMap(\.body))
            Issue.record("profanity has \(has), the contact \(heard)", sourceLocation: sourceLocation)
        }
        #expect(try kalij("send", bob, "from kalij", "--id", "k1").status == 0)
        try await expectThere(.init(from: alice, body: "from kalij", isCorrection: false))
        #expect(try kalij("correct", "k1", "from kalij, corrected", "--wait").status == 0)
        try await expectThere(.init(from: alice, body: "from kalij, corrected", isCorrection: true))
        try profanity.type("/msg bob@localhost from profanity")
        #expect(try await isHere("from profanity"))
        try profanity.type("/correct from profanity, corrected")
        #expect(try await isHere("from profanity, corrected"))
        try ask("heard by both", listening)
        #expect(try await isHere("heard by both"))
        try await expectThere(.init(from: bob, body: "heard by both", isCorrection: false))
        #expect(try kalij("read", bob, "--wait").status == 0)
        #expect(try await until(every: 50) { try listening.given("marker", for: "heard by both") == 1 })
        // profanity shows the fallback of a retraction, and nothing of reactions.
        #expect(try kalij("react", "k1", "👍", "--wait").status == 0)
        #expect(try kalij("send", bob, "gone", "--id", "k2").status == 0)
        #expect(try kalij("retract", "k2", "--wait").status == 0)
        #expect(try await until(every: 100) { try await profanity.texts().last?.body.contains("retract") == true })
        #expect(try await until(every: 50) { try listening.given("receipt", for: "heard by both") >= 1 })
        let heard = try listening.events().filter { $0.event == "received" && $0.body?.isEmpty == false }
        #expect(heard.map(\.body) == ["from kalij", "from profanity", "gone"])
        // A copy of a text that asks for a receipt gets none (case 14).
        let archive = try await world.peer("alice").archive()
        #expect(archive.allSatisfy { $0.sender?.hasPrefix(alice) != true || $0.recipient?.hasPrefix(alice) != true })
    }

    /// Bob sends a text that asks for a receipt and a marker. Both go to the client that has asked, which has to stay.
    private static func ask(_ text: String, _ listening: Chat) throws {
        try listening.send(
            raw: """
                <message to='\(alice)' type='chat' id='\(text)'><body>\(text)</body><request xmlns='urn:xmpp:receipts'/>\
                <markable xmlns='urn:xmpp:chat-markers:0'/></message>
                """)
    }

    private static func contacts(_ world: World, _ profanity: Profanity) async throws {
        let kalij = world.kalij
        try profanity.type("/roster add carol@localhost Carol")
        #expect(try await until(every: 100) { try kalij("roster").output.contains("Carol") })
        #expect(try kalij("add", "dave@localhost", "--name", "Dave", "--wait").status == 0)
        #expect(
            await until(every: 50) {
                profanity.has("RECV", "jabber:iq:roster", "dave@localhost", "name=\"Dave\"")
            })
        try profanity.type("/blocked add mallory@localhost")
        #expect(
            try await until(every: 100) { try kalij("roster", "--blocked").output.contains("mallory@localhost") })
        #expect(try kalij("unblock", "mallory@localhost", "--wait").status == 0)
        #expect(
            await until(every: 50) {
                profanity.has("RECV", "urn:xmpp:blocking", "<unblock", "mallory@localhost")
            })
    }
}

extension Chat {
    /// How many receipts or markers the client has got for a message.
    func given(_ kind: String, for id: String) throws -> Int { try events().count { $0.event == kind && $0.id == id } }
}
