import Foundation
import KalijLab
import TestSupport
import Testing

/// `kalij iq`, `kalij pending`, `kalij logout`, and dead letters in `kalij status`, against a real server.
@Suite(.serialized) struct QuestionTests {
    private static let disco = "<query xmlns='http://jabber.org/protocol/disco#info'/>"
    private static let question = "<question xmlns='urn:example:question' number='7'/>"

    @Test("iq prints the answer: of the server, of the account, of another client", arguments: LongForm.servers)
    func answered(kind: ServerKind) async throws {
        let world = try await World(kind)
        defer { world.close() }
        for recipient in ["localhost", "alice@localhost"] {
            let outcome = try world.kalij("iq", recipient, Self.disco)
            #expect(outcome.status == 0, "\(outcome.errors)")
            #expect(outcome.output.contains("<feature var="))
        }
        let bob = try await world.peer("bob").answering(resource: "peer")
        let outcome = try world.kalij("--json", "iq", "bob@localhost/peer", "-", input: Self.question)
        #expect(outcome.status == 0)
        let record = try #require(try outcome.objects().first)
        #expect(record["outcome"] as? String == "result" && record["to"] as? String == "bob@localhost/peer")
        #expect((record["answer"] as? String)?.contains("urn:example:question") == true)
        await bob.quit()
        // The archive may still be asked: a command with a question ends with its answer.
        let pending = try world.kalij("--json", "pending").objects()
        #expect(!pending.contains { ($0["handler"] as? String)?.hasPrefix("question.") == true }, "\(pending)")
        #expect(try world.kalij("pending", "--results").lines.count == 3)
    }

    @Test("an error exits 1 and is printed; a payload other than a request exits 65; without an account 78")
    func refused() async throws {
        let world = try await World()
        defer { world.close() }
        let unknown = try world.kalij("iq", "localhost", "<query xmlns='urn:example:unknown'/>")
        #expect(unknown.status == 1 && unknown.output.contains("service-unavailable"))
        #expect(try world.kalij("iq", "nobody@localhost/x", Self.disco, "--set").status == 1)
        for words in [["localhost", "<a><b></a>"], ["@", Self.disco], ["localhost", "<iq type='get'/>"]] {
            #expect(try world.kalij.run(["iq"] + words).status == 65, "\(words)")
        }
        #expect(try world.kalij("iq", "localhost").status == 64)
        #expect(try Kalij(data: world.laboratory.path("none"))("iq", "localhost", Self.disco).status == 78)
        #expect(try world.kalij("pending", "--results").lines.count == 2)
    }

    @Test("an answer that takes too long is a timeout, exit 75; a late answer changes nothing")
    func timeout() async throws {
        let world = try await World()
        defer { world.close() }
        let run = try world.kalij.running()
        try await run.event("caught_up")
        let bob = try await world.peer("bob").answering(resource: "peer", isHeld: true)
        for _ in 0..<2 {
            #expect(try world.kalij("iq", "bob@localhost/peer", Self.question, "--wait", "1").status == 75)
        }
        let asking = try world.kalij.begun(["iq", "bob@localhost/peer", Self.question, "--wait", "600"])
        func count(_ event: String) throws -> Int { try bob.events().count { $0.event == event } }
        // On a slow machine a question's time may be over before it is sent.
        #expect(try await until { try await world.sql("SELECT count(*) FROM request") == "1\n" && count("asked") > 0 })
        try bob.answer()
        #expect(asking.process.ended() == .exited(0))
        // The late answers came before this one's.
        let results = try world.kalij("--json", "pending", "--results").objects().map { $0["outcome"] as? String }
        #expect(results == ["timeout", "timeout", "result"])
        await bob.quit()
        #expect(run.end(SIGTERM).status == 0)
    }

    @Test("killed between question and answer: pending lists the question, and the next process gets the answer")
    func killed() async throws {
        let world = try await World()
        defer { world.close() }
        let bob = try await world.peer("bob").answering(resource: "peer", isHeld: true)
        let asking = try world.kalij.begun(["iq", "bob@localhost/peer", Self.question, "--wait", "600"])
        #expect(try await until { try bob.events().contains { $0.event == "asked" } })
        _ = asking.end(SIGKILL)
        let pending = try world.kalij("--json", "pending").objects()
        #expect(pending.contains { $0["responder"] as? String == "bob@localhost/peer" })
        try bob.answer()
        #expect(try await until { try bob.events().contains { $0.event == "answered" } })
        let next = try world.kalij.running()
        try await world.kalij.untilAnswered()
        #expect(next.end(SIGTERM).status == 0)
        let results = try world.kalij("--json", "pending", "--results").objects()
        #expect(results.map { $0["outcome"] as? String } == ["result"])
        await bob.quit()
    }

    @Test("handlers of a missing type, damaged or from a newer version: status lists them, everything else works")
    func deadLetters() async throws {
        let world = try await World()
        defer { world.close() }
        let forms = [
            "x'836c6578616d706c652e676f6e6501a0'", "x'00ff'", "zeroblob(0)", "randomblob(50)",
            "x'83717175657374696f6e2e616e73776572656418ffa0'", "x'83717175657374696f6e2e616e73776572656401a0'",
        ]
        for (index, form) in forms.enumerated() {
            _ = try await world.sql(
                """
                INSERT INTO request VALUES (1, 'bad-\(index)', '', 0, 1, 0, 'x', \(form), 0);
                INSERT INTO timer(account, at, name, handler) VALUES (1, 1, 'x', \(form));
                """)
        }
        let run = try world.kalij.running()
        try await run.event("caught_up")
        #expect(try await until { try await world.sql("SELECT count(*) FROM dead_letter") == "12\n" })
        #expect(try world.kalij("iq", "localhost", Self.disco).status == 0)
        #expect(try world.kalij("send", "bob@localhost", "hello").status == 0)
        let status = try #require(try world.kalij("--json", "status").objects().first)
        let letters = try #require(status["dead_letters"] as? [[String: Any]])
        #expect(letters.count == 12)
        #expect(letters.contains { ($0["reason"] as? String)?.contains("newer version") == true })
        #expect(
            letters.contains { $0["reason"] as? String == "handler question.answered (version 1): question is missing" }
        )
        #expect(try world.kalij("status").output.contains("handler example.gone (version 1): no such handler is known"))
        #expect(run.end(SIGTERM).status == 0)
    }

    @Test("logout: with and without a driving process; the messages stay, or go with --remove")
    func logout() async throws {
        let world = try await World()
        defer { world.close() }
        let run = try world.kalij.running()
        try await run.event("caught_up")
        #expect(try world.kalij("send", "bob@localhost", "hello").status == 0)
        try await run.event("state") { $0["state"] as? String == "acked" }
        #expect(try world.kalij("logout", "alice@localhost").status == 0)
        try await run.event("logged_out")
        #expect(run.process.ended() == .exited(0))
        #expect(try await world.sql("SELECT count(*) FROM account WHERE keys IS NULL AND password IS NULL") == "1\n")
        #expect(try world.kalij("run").status == 78)
        #expect(try world.kalij("iq", "localhost", Self.disco).status == 78)
        #expect(try world.kalij("history").output.contains("hello"))
        #expect(try world.kalij("status").output.contains("account: alice@localhost, logged out"))
        #expect(try world.kalij.login(world.server).status == 0)
        #expect(try world.kalij("iq", "localhost", Self.disco).status == 0)
        #expect(try world.kalij("logout", "bob@localhost").status == 78)
        #expect(try world.kalij("--json", "logout", "alice@localhost", "--remove").output.contains("\"removed\":true"))
        #expect(try await world.sql("SELECT count(*) FROM account") == "0\n")
        #expect(try await world.sql("SELECT count(*) FROM message") == "0\n")
    }

    @Test(
        "logout with nobody driving ends the session at the server, which otherwise waits for it",
        arguments: LongForm.servers)
    func logoutAlone(kind: ServerKind) async throws {
        let world = try await World(kind)
        defer { world.close() }
        let bob = try Kalij(data: world.laboratory.path("bob"))
        #expect(try bob.login(world.server, as: "bob@localhost").status == 0)
        let run = try world.kalij.running()
        let session = try #require(try await run.event("online")["jid"] as? String)
        try await run.event("caught_up")
        try await world.kalij.untilAnswered()
        _ = run.end(SIGKILL)
        // A request to a session that is not there is refused, and before a later one.
        let waiting = try bob.begun(["iq", session, Self.disco, "--wait", "600"])
        #expect(
            try await until {
                try bob("--json", "pending").objects().contains { $0["responder"] as? String == session }
            })
        #expect(try bob("iq", "alice@localhost/nowhere", Self.disco).status == 1)
        #expect(waiting.isRunning, "the server keeps the session")
        _ = waiting.end(SIGKILL)
        let outcome = try world.kalij("logout", "alice@localhost")
        #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome.errors)")
        // ejabberd forgets a request that arrives while the session ends, so the request is sent again. A session that goes on
        // answers no request.
        var gone = try bob("iq", session, Self.disco, "--wait", "5")
        _ = try await until {
            if gone.status == 75 { gone = try bob("iq", session, Self.disco, "--wait", "5") }
            return gone.status != 75
        }
        #expect(gone.status == 1 && gone.output.contains("service-unavailable"), "\(gone)")
        #expect(try await world.sql("SELECT count(*) FROM request") == "0\n")
    }

    @Test("logout without a server says so and succeeds all the same; --offline does not look for a server")
    func logoutOffline() async throws {
        let world = try await World()
        defer { world.close() }
        for (option, reason) in [("--offline", "not to be connected to"), (nil, "refused")] {
            #expect(try world.kalij.login(world.server).status == 0)
            let run = try world.kalij.running()
            try await run.event("caught_up")
            _ = run.end(SIGKILL)
            if option == nil { await world.server.stop() }
            let outcome = try world.kalij.run(["--json", "logout", "alice@localhost"] + (option.map { [$0] } ?? []))
            #expect(outcome.status == 0)
            #expect(try (outcome.objects().first?["unreached"] as? String)?.contains(reason) == true, "\(outcome)")
            #expect(outcome.errors.contains("the session was not ended at the server"))
            #expect(try await world.sql("SELECT count(*) FROM account WHERE state = 'out'") == "1\n")
        }
    }
}
