import Foundation
import KalijLab
import TestSupport
import Testing

/// `kalij ping`, `kalij disco`, features learned from presence, and carbons, against real servers and another client of
/// the same account.
@Suite(.serialized) struct DiscoveryTests {
    @Test(
        "ping and disco, with and without a driving process: answers, refusals in words, exit statuses",
        arguments: LongForm.servers)
    func asking(kind: ServerKind) async throws {
        let world = try await World(kind)
        defer { world.close() }
        for isDriven in [false, true] {
            let run = isDriven ? try world.kalij.running() : nil
            if let run { try await run.event("caught_up") }
            let ping = try world.kalij("--json", "ping", "localhost", "--count", "2")
            #expect(ping.status == 0, "\(ping.errors)")
            let answers = try ping.objects()
            #expect(answers.count == 2 && answers.allSatisfy { $0["outcome"] as? String == "result" })
            #expect(answers.allSatisfy { ($0["round_trip_ms"] as? Int ?? -1) >= 0 }, "\(answers)")
            #expect(try world.kalij("ping", "localhost").output.hasPrefix("answer from localhost: "))

            let nobody = try world.kalij("ping", "bob@localhost/nowhere")
            #expect(nobody.status == 1)
            #expect(nobody.errors.contains("nobody is there, or it does not know such questions"), "\(nobody.errors)")

            let disco = try world.kalij("disco", "localhost", "--items")
            #expect(disco.status == 0, "\(disco.errors)")
            #expect(disco.lines.contains { $0.hasPrefix("identity\tserver/im\t") })
            #expect(disco.lines.contains("feature\turn:xmpp:carbons:2"))
            #expect(disco.lines.contains { $0.hasPrefix("item\tconference.localhost") } || kind == .ejabberd)
            let record = try #require(try world.kalij("--json", "disco", "localhost").objects().first)
            let info = try #require(record["info"] as? [String: Any])
            #expect((info["features"] as? [String])?.contains("urn:xmpp:ping") == true && record["items"] == nil)
            let node = try world.kalij("disco", "localhost", "urn:example:none")
            #expect(node.status == 1 && node.errors.contains("there is no such address or node"), "\(node.errors)")
            if let run { #expect(run.end(SIGTERM).status == 0) }
        }
        #expect(try world.kalij("ping", "@").status == 65)
        #expect(try world.kalij("disco").status == 64)
        #expect(try world.kalij("ping", "localhost", "--count", "0").status == 64)
    }

    @Test("a ping of a killed process is pending, and the next process gets the answer")
    func killed() async throws {
        let world = try await World(.prosody)
        defer { world.close() }
        let run = try world.kalij.running()
        try await run.event("caught_up")
        try await freeze(run, of: world)
        let asking = try world.kalij.begun(["ping", "localhost"])
        #expect(try await until { try await world.sql("SELECT count(*) FROM question") == "1\n" })
        for process in [asking, run] { _ = process.end(SIGKILL) }
        #expect(try world.kalij("pending").output.contains("question.answered waits until"))
        // Resumes the session of a killed process, and ends after the answer to its own ping.
        #expect(try world.kalij("ping", "localhost", "--wait", "600").status == 0)
        let results = try world.kalij("--json", "pending", "--results").objects()
        #expect(results.map { $0["outcome"] as? String } == ["result", "result"])
    }

    /// Stops the process, but not within a transaction.
    private func freeze(_ run: Running, of world: World) async throws {
        let isFrozen = try await until {
            kill(run.pid, SIGSTOP)
            for name in ["kalij", "mailbox"] {
                var launch = Launch(executable: "/usr/bin/sqlite3")
                launch.arguments = ["-batch", world.kalij.data + "/\(name).db", "BEGIN IMMEDIATE; COMMIT"]
                let writing = try Running(launch)
                writing.process.ended()
                guard try writing.errors.isEmpty else {
                    kill(run.pid, SIGCONT)
                    return false
                }
            }
            return true
        }
        #expect(isFrozen)
    }

    @Test("a waiting command is told at once, and drives itself when the driving process is killed")
    func told() async throws {
        let world = try await World(.prosody)
        defer { world.close() }
        let bob = try await world.peer("bob").answering(resource: "peer")
        let run = try world.kalij.running()
        try await run.event("caught_up")
        let question = "<question xmlns='urn:example:question' number='1'/>"
        // Without a signal the command would wait for longer than the test.
        #expect(try world.kalij("iq", "bob@localhost/peer", question, "--wait", "3600").status == 0)
        await bob.quit()

        let slow = try await world.peer("bob").answering(resource: "slow", isHeld: true)
        let asking = try world.kalij.begun(["-v", "iq", "bob@localhost/slow", question, "--wait", "3600"])
        #expect(try await until { try slow.events().contains { $0.event == "asked" } })
        #expect(run.end(SIGKILL).status == SIGKILL)
        try slow.answer()
        let ending = asking.process.ended()
        let said = try asking.errors
        #expect(ending == .exited(0), "\(said)")
        await slow.quit()
    }

    @Test("a command that has driven and now waits for another process is interrupted at once all the same")
    func interrupted() async throws {
        let world = try await World(.prosody)
        defer { world.close() }
        let slow = try await world.peer("bob").answering(resource: "slow", isHeld: true)
        let question = "<question xmlns='urn:example:question' number='1'/>"
        let asking = try world.kalij.begun(["iq", "bob@localhost/slow", "--wait", "3600", question])
        #expect(try await until { try slow.events().contains { $0.event == "asked" } })
        // The running process lets this process drive.
        let run = try world.kalij.running()
        try await run.event("caught_up")
        try await world.untilDriven(by: "main")
        #expect(asking.isRunning)
        asking.process.signal(SIGINT)
        #expect(asking.process.ended() == .exited(75))
        #expect(run.end(SIGTERM).status == 0)
        await slow.quit()
    }

    @Test(
        "another client's software is learned from its presence by one question, and our software by the other client")
    func capabilities() async throws {
        let world = try await World(.prosody)
        defer { world.close() }
        let run = try world.kalij.running()
        try await run.event("caught_up")
        let phones = [
            try await world.peer("alice").answering(resource: "phone1", capabilities: true),
            try await world.peer("alice").answering(resource: "phone2", capabilities: true),
        ]
        let entities = "SELECT count(*) FROM entity WHERE state = 2 AND jid LIKE 'alice@localhost/phone%'"
        #expect(try await until { try await world.sql(entities) == "2\n" })
        #expect(
            try await world.sql("SELECT count(*) FROM capability WHERE CAST(info AS TEXT) LIKE '%jabber:x:data%'")
                == "1\n",
            "verified, once for both")
        let ourselves = try #require(
            try await world.sql("SELECT jid FROM session").split(separator: "\n").first.map(String.init))
        let questions = try phones.flatMap { try $0.events() }
            .filter { $0.event == "asked about itself" && $0.sender == ourselves }
        #expect(questions.count == 1, "the second one has the same hash")
        #expect(
            try await until { try phones[0].events().contains { $0.sender == ourselves && $0.event == "told" } })
        for phone in phones { await phone.quit() }
        #expect(try await until { try await world.sql(entities) == "0\n" }, "who leaves is forgotten")
        #expect(run.end(SIGTERM).status == 0)
    }

    @Test("messages of another client of the account are copied to this client", arguments: LongForm.servers)
    func carbons(kind: ServerKind) async throws {
        let world = try await World(kind)
        defer { world.close() }
        let run = try world.kalij.running()
        try await run.event("caught_up")
        #expect(try await until { try await world.sql("SELECT carbons FROM session") == "1\n" })
        #expect(try world.kalij("status").output.contains("with copies of other clients' messages"))
        // Past the last reading of the archive: from now on only copies can show anything.
        try await world.kalij.untilAnswered()
        let rounds = "SELECT number, phase FROM catchup"
        let before = try await world.sql(rounds)
        let phone = try await world.peer("alice").chat(
            with: "bob@localhost", label: "sent", rate: 0, count: 3, resource: "phone")
        try await phone.finished()
        let bob = try await world.peer("bob").chat(with: "alice@localhost/phone", label: "got", rate: 0, count: 3)
        try await bob.finished()
        let sent = try await run.event("message") { $0["body"] as? String == "sent 3" }
        #expect(sent["direction"] as? String == "out" && sent["from"] as? String == "alice@localhost/phone")
        #expect(sent["to"] as? String == "bob@localhost" && sent["state"] as? String == "acked")
        let got = try await run.event("message") { $0["body"] as? String == "got 3" }
        #expect(got["direction"] as? String == "in" && got["to"] as? String == "alice@localhost/phone")
        #expect(try run.events().count { $0["event"] as? String == "message" } == 6, "each once")
        #expect(
            try await world.sql(rounds) == before && before.hasSuffix("|done\n"), "the archive was not read: \(before)")
        await phone.quit()
        await bob.quit()
        // A resumed session goes on unchanged; the archive then shows the same messages, and none twice.
        run.process.signal(SIGKILL)
        run.process.ended()
        let next = try world.kalij.running()
        let online = try await next.event("online")
        try await next.event("caught_up")
        #expect(online["resumed"] as? Bool == true)
        #expect(try await world.sql("SELECT carbons FROM session") == "1\n")
        #expect(try world.kalij("--json", "history").lines.count == 6)
        #expect(next.end(SIGTERM).status == 0)
    }
}
