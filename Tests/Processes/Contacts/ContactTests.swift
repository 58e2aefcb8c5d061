import Foundation
import Glibc
import KalijLab
import TestSupport
import Testing

/// Contacts with real servers: both directions, and under kills.
@Suite(.serialized) struct ContactTests {
    /// `Scripts/long contact-kills 200` is the long form: kills of each of the two sides.
    private let kills = LongForm.amount("contact-kills", short: 6)

    private static let (alice, bob) = ("alice@localhost", "bob@localhost")

    /// Bob's `kalij`.
    private func bob(_ world: World) throws -> Kalij {
        let bob = try Kalij(data: world.laboratory.path("bob"))
        #expect(try bob.login(world.server, as: Self.bob).status == 0)
        return bob
    }

    /// The roster without clients and times, as a new device of the account gets it from the server.
    private func served(_ user: String, _ world: World) async throws -> [String] {
        let device = try Kalij(data: world.laboratory.path("device-\(UUID().uuidString)"))
        #expect(try device.login(world.server, as: user).status == 0)
        let run = try device.running()
        try await run.event("caught_up")
        try await device.untilAnswered()
        #expect(run.end(SIGTERM).status == 0)
        return try roster(of: device)
    }

    private func roster(of kalij: Kalij) throws -> [String] {
        try kalij("--json", "roster").objects().map { contact in
            let groups = (contact["groups"] as? [String] ?? []).joined(separator: ",")
            return [contact["contact"], contact["name"], contact["subscription"], contact["asked"]]
                .map { $0.map { "\($0)" } ?? "-" }.joined(separator: " ") + " " + groups
        }
    }

    private func contact(_ jid: String, of kalij: Kalij) throws -> [String: Any]? {
        try kalij("--json", "roster").objects().first { $0["contact"] as? String == jid }
    }

    @Test(
        "cases 23, 24: a request that the server repeats at each login asks the user once; who was added is approved; presence outlives a resume, and no bind"
    )
    func both() async throws { try await World.atEachServer { try await both($0) } }

    private func both(_ world: World) async throws {
        let (alice, bob) = (world.kalij, try bob(world))
        #expect(try alice("roster").status == 1)
        #expect(try alice("add", Self.bob, "--name", "Bob", "--group", "Friends", "--wait").status == 0)
        #expect(try contact(Self.bob, of: alice)?["name"] as? String == "Bob")

        var asked = 0
        for number in 0..<2 {
            let run = try bob.running()
            try await run.event("caught_up")
            // The server repeats a request before it delivers what comes later.
            #expect(try alice("send", Self.bob, "later \(number)", "--confirm").status == 0)
            try await run.event("message") { $0["body"] as? String == "later \(number)" }
            if number == 0 { try await run.event("request") }
            asked += try run.events().filter { $0["event"] as? String == "request" }.count
            // The next process logs in anew.
            #expect(run.end(SIGTERM).status == 0)
            #expect(try bob("--json", "requests").objects().map { $0["contact"] as? String } == [Self.alice])
            #expect(try bob("logout", Self.bob).status == 0)
            #expect(try bob.login(world.server, as: Self.bob).status == 0)
        }
        #expect(asked == 1)
        #expect(try bob("accept", "nobody@localhost").status == 65)
        #expect(try bob("accept", Self.alice, "--wait").status == 0)
        #expect(try bob("requests").status == 1)

        // Bob adds alice in turn: nobody asks alice.
        #expect(try bob("add", Self.alice, "--wait").status == 0)
        let (atAlice, atBob) = (try alice.running(), try bob.running())
        let isMutual = try await until(every: 100) {
            try contact(Self.bob, of: alice)?["subscription"] as? String == "both"
                && contact(Self.alice, of: bob)?["subscription"] as? String == "both"
        }
        let (ofAlice, ofBob) = (try alice("roster").output, try bob("roster").output)
        #expect(isMutual, "\(ofAlice) \(ofBob)")
        let seesClients = try await until(every: 100) {
            try contact(Self.bob, of: alice)?["clients"] != nil && contact(Self.alice, of: bob)?["clients"] != nil
        }
        #expect(seesClients)
        #expect(try atAlice.events().allSatisfy { $0["event"] as? String != "request" })

        // A resume by another process knows who is there; who has gone is not shown.
        atAlice.process.signal(SIGKILL)
        atAlice.process.ended()
        #expect(try contact(Self.bob, of: alice)?["clients"] != nil)
        #expect(atBob.end(SIGTERM).status == 0)
        #expect(try bob("logout", Self.bob).status == 0)
        let again = try alice.running()
        let isGone = try await until(every: 100) { try contact(Self.bob, of: alice)?["clients"] == nil }
        #expect(isGone)
        #expect(try alice("remove", Self.bob, "--wait").status == 0)
        #expect(try alice("roster").status == 1)
        #expect(again.end(SIGTERM).status == 0)
        #expect(try await served(Self.alice, world) == [])
    }

    @Test(
        "a contact is added and accepted by processes that are killed again and again: in the end both sides have what the server has"
    )
    func killed() async throws { try await World.atEachServer { try await killed($0) } }

    private func killed(_ world: World) async throws {
        let random = RandomChoices("contacts", part: world.server.kind == .prosody ? 0 : 1)
        let (alice, bob) = (world.kalij, try bob(world))
        #expect(try alice("add", Self.bob, "--name", "Bob", "--queue-only").status == 0)
        _ = try await kill(alice, random)
        let asked = try alice.running()
        let isAsked = try await until(every: 100) { try contact(Self.bob, of: alice)?["asked"] as? Bool == true }
        #expect(isAsked)
        var told = try await kill(bob, random)
        let waiting = try bob.running()
        let isWaiting = try await until(every: 100) { try bob("requests").status == 0 }
        #expect(isWaiting)
        waiting.process.signal(SIGKILL)
        waiting.process.ended()
        told += try requests(in: waiting)
        #expect(try bob("accept", Self.alice, "--queue-only").status == 0)
        told += try await kill(bob, random)
        let run = try bob.running()
        let isSeen = try await until(every: 100) {
            try contact(Self.bob, of: alice)?["subscription"] as? String == "to"
                && contact(Self.alice, of: bob)?["subscription"] as? String == "from"
        }
        #expect(isSeen)
        #expect(run.end(SIGTERM).status == 0)
        #expect(asked.end(SIGTERM).status == 0)
        let (ofAlice, ofBob) = (try await served(Self.alice, world), try await served(Self.bob, world))
        #expect(try roster(of: alice) == ofAlice)
        #expect(try roster(of: bob) == ofBob)
        #expect(try bob("requests").status == 1)
        // A process may die between its commit and the event.
        #expect(told <= 1)
    }

    /// How often a process has told of a new request.
    private func requests(in run: Running) throws -> Int {
        try run.events().filter { $0["event"] as? String == "request" && $0["closed"] == nil }.count
    }

    /// Processes are begun and killed.
    /// - Returns: how often they have told of a new request.
    private func kill(_ kalij: Kalij, _ random: RandomChoices) async throws -> Int {
        var told = 0
        for _ in 0..<kills {
            let run = try kalij.running()
            try await sleep(for: random.milliseconds(10...400))
            run.process.signal(SIGKILL)
            run.process.ended()
            told += try requests(in: run)
        }
        return told
    }

    @Test("a blocked sender reaches nobody; another device of the account knows")
    func blocked() async throws { try await World.atEachServer { try await blocked($0) } }

    private func blocked(_ world: World) async throws {
        #expect(try world.kalij("roster", "--blocked").status == 1)
        #expect(try world.kalij("block", Self.bob, "--report", "nonsense").status == 64)
        #expect(try world.kalij("block", Self.bob, "--report", "spam", "--wait").status == 0)
        #expect(try world.kalij("roster", "--blocked").lines == [Self.bob])
        let device = try Kalij(data: world.laboratory.path("device"))
        #expect(try device.login(world.server).status == 0)
        let (run, other) = (try world.kalij.running(), try device.running())
        try await run.event("caught_up")
        try await other.event("blocked") { $0["address"] as? String == Self.bob && $0["blocked"] as? Bool == true }
        try await world.send(["kept away"])
        #expect(try device("unblock", Self.bob, "--wait").status == 0)
        try await run.event("blocked") { $0["blocked"] as? Bool == false }
        try await world.send(["heard"])
        try await run.event("message") { $0["body"] as? String == "heard" }
        #expect(try run.events().allSatisfy { $0["body"] as? String != "kept away" })
        #expect(run.end(SIGTERM).status == 0)
        #expect(other.end(SIGTERM).status == 0)
        #expect(try world.kalij("roster", "--blocked").status == 1)
    }
}
