import Foundation
import KalijLab
import TestSupport
import Testing

/// "What `share` commits is a row of the mailbox database; the driver moves it over in a step."
@Suite(.serialized) struct SharingTests {
    @Test("shared messages wait in the mailbox, are shown as queued, and no sender waits for a frozen writer")
    func waits() async throws {
        let world = try await World()
        defer { world.close() }
        let writer = try await world.writerInTransaction()
        let sent = try world.kalij("--json", "send", "bob@localhost", "hello", "--queue-only")
        #expect(writer.isRunning, "somebody has waited for it, and killed it")
        writer.process.signal(SIGKILL)
        #expect(sent.status == 0)
        #expect(try sent.objects().first?["state"] as? String == "queued")

        let status = try world.kalij("--json", "status").objects().first
        let account = try #require((status?["accounts"] as? [[String: Any]])?.first)
        #expect(account["queued"] as? Int == 1 && account["in_mailbox"] as? Int == 1)
        #expect(try world.kalij("status").output.contains("in the mailbox: 1 of the queued"))
        let history = try world.kalij("--json", "history").objects()
        #expect(history.map { $0["body"] as? String } == ["hello"])
        let id = try sent.objects().first?["origin_id"] as? String
        #expect(id != nil && history.first?["origin_id"] as? String == id)
        #expect(try await world.sql("SELECT count(*) FROM message") == "0\n")

        #expect(try world.kalij("flush").status == 0)
        #expect(try world.kalij("--json", "history").objects().map { $0["state"] as? String } == ["acked"])
        #expect(try !world.kalij("status").output.contains("in the mailbox"))
    }

    /// `Scripts/long sharing 200` gives the long form.
    @Test("the driver is killed while moving messages over, again and again: each message is sent once, in order")
    func killed() async throws {
        let rounds = LongForm.amount("sharing", short: 8)
        let world = try await World()
        defer { world.close() }
        let bob = try Kalij(data: world.laboratory.path("bob"))
        #expect(try bob.login(world.server, as: "bob@localhost").status == 0)
        let listening = try bob.running()
        try await listening.event("caught_up")
        var accepted: [String] = []
        let random = RandomChoices("sharing")
        for round in 0..<rounds {
            for number in 0..<4 {
                accepted.append("\(round) \(number)")
                #expect(try world.kalij("send", "bob@localhost", "\(round) \(number)", "--queue-only").status == 0)
            }
            // Messages in the mailbox are moved over right after the start: the kill comes before, meanwhile and after.
            let run = try world.kalij.running()
            try await sleep(for: random.milliseconds(5...60))
            _ = run.end(SIGKILL)
        }
        #expect(try world.kalij("flush").status == 0)
        let last = try #require(accepted.last)
        try await listening.event("message") { $0["body"] as? String == last }
        let received = try listening.events().filter { $0["event"] as? String == "message" }
            .compactMap { $0["body"] as? String }
        #expect(received == accepted)
        let own = try world.kalij("--json", "history").objects().filter { $0["event"] as? String == "message" }
        #expect(own.map { $0["body"] as? String } == accepted && own.allSatisfy { $0["state"] as? String == "acked" })
    }
}
