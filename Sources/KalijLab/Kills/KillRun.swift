/// The main job: `kalij run` is killed over and over while messages come and go, and at the end nothing is missing.
///
/// Alice's account is Kalij's; Bob's is the independent client. Bob sends numbered messages ("m 1", "m 2", ...) all
/// the time; `kalij send` processes queue numbered replies ("r 1", ...). The truth is the server's archive.
public struct KillRun: Sendable {
    private let options: KillOptions
    private let laboratory: Laboratory
    private let server: any XMPPServer
    private let kalij: KalijCommand
    private let bob: Peer
    private let table: RawTable
    private let progress: @Sendable (KillProgress) -> Void
    private let tally = Tally()
    private let watch: SessionWatch

    /// The password of both accounts.
    static let password = "secret"

    /// Prepares a run.
    /// - Parameters:
    ///   - server: started, with the accounts `alice` and `bob`.
    ///   - kalij: logged in as Alice.
    ///   - progress: called about five times a second.
    public init(
        _ options: KillOptions, laboratory: Laboratory, server: any XMPPServer, kalij: KalijCommand,
        progress: @escaping @Sendable (KillProgress) -> Void = { _ in }
    ) {
        self.options = options
        self.laboratory = laboratory
        self.server = server
        self.kalij = kalij
        self.progress = progress
        bob = Peer("bob", password: Self.password, server: server, laboratory: laboratory)
        table = RawTable(laboratory: laboratory, data: kalij.data)
        watch = SessionWatch(reader: server.sessionReader(account: "alice@localhost"))
    }

    /// Starts a server, creates both accounts and logs Kalij in.
    /// - Parameter step: told what is done next, for people.
    public static func prepare(
        _ options: KillOptions, laboratory: Laboratory, step: (String) -> Void = { _ in }
    ) async throws -> (server: any XMPPServer, kalij: KalijCommand) {
        step("starting \(options.server.rawValue) in \(laboratory.directory)")
        let server = try await makeServer(options.server, in: laboratory)
        try await server.start()
        step("it listens on 127.0.0.1:\(server.port); creating the accounts alice@localhost and bob@localhost")
        try await server.register("alice", password: password)
        try await server.register("bob", password: password)
        let kalij = KalijCommand(options.kalij, laboratory: laboratory)
        step("kalij login alice@localhost")
        try await kalij.login("alice@localhost", password: password, server: server)
        return (server, kalij)
    }

    /// Carries out the whole run.
    /// - Returns: the figures, and what they were taken from.
    /// - Throws: ``LaboratoryError`` if it cannot be carried out; a run in which messages are lost is no error here.
    public func run() async throws -> (result: KillResult, evidence: Evidence) {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await watch.follow() }
            defer { group.cancelAll() }
            return try await story()
        }
    }

    private func story() async throws -> (result: KillResult, evidence: Evidence) {
        let began = ContinuousClock.now
        let chat = try await bob.chat(with: "alice@localhost", label: "m", rate: options.rate)
        try await killAll(chat)
        report(.draining, incoming: try chat.sent())
        let offered = try await chat.stopSending()
        let seconds = Double((ContinuousClock.now - began).components.seconds)
        try await drain(offered: offered)
        await chat.quit()
        report(.reading, incoming: offered)
        let heard = try chat.events().filter { $0.event == "received" }.compactMap(\.body)
        let evidence = try await gather(offered: offered, heard: heard)
        return (summarize(evidence, seconds: seconds), evidence)
    }

    /// Kills until all targets are reached, then until the senders have stopped.
    private func killAll(_ chat: Chat) async throws {
        let killer = Killer(
            kalij: kalij, table: table, lifetime: options.lifetime, tally: tally, watch: watch,
            generator: SeededGenerator(seed: options.seed))
        let replies = ReplySender(
            kalij: kalij, recipient: "bob@localhost", killShare: options.sendKills, pause: options.sendPause,
            tally: tally, generator: SeededGenerator(seed: options.seed ^ 0x5eed))
        let first = try await killer.first()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                var killer = killer
                try await killer.run(first)
            }
            group.addTask {
                var replies = replies
                try await replies.run()
            }
            group.addTask { try await watchTargets(chat) }
            while try await group.next() != nil {}  // the first error ends the others
        }
    }

    /// Ends the run once every target is reached.
    private func watchTargets(_ chat: Chat) async throws {
        let deadline = ContinuousClock.now + .seconds(options.limit)
        defer { tally.finish() }
        while true {
            let incoming = try chat.sent()
            if report(.killing, incoming: incoming) >= 1 { return }
            guard ContinuousClock.now < deadline else {
                throw LaboratoryError("not done after \(options.limit) s: \(kalij.errors(of: "run"))")
            }
            try await Task.sleep(for: .milliseconds(200))
        }
    }

    @discardableResult
    private func report(_ phase: KillProgress.Phase, incoming: Int) -> Double {
        let counts = tally.counts
        let messages = Double(max(1, options.messages))
        let fraction = min(
            Double(counts.lives.count) / Double(max(1, options.kills)), Double(incoming) / messages,
            Double(counts.accepted.count) / messages, 1)
        progress(
            KillProgress(
                phase: phase, kills: counts.lives.count, incoming: incoming, outgoing: counts.accepted.count,
                fraction: fraction))
        return fraction
    }
}

extension KillRun {
    /// One last life, which is not killed: it fetches and sends what is left, until nothing has changed for 60 s.
    private func drain(offered: Int) async throws {
        let accepted = tally.counts.accepted.count
        let process = try kalij.run()
        var deadline = ContinuousClock.now + .seconds(60)
        var last = 0
        while ContinuousClock.now < deadline, process.ending() == nil {
            if let counts = try? await table.counts(), let queued = try? await table.queued(),
                queued == 0, counts.unsettled == 0, counts.received >= offered, counts.sent >= accepted
            {
                break
            } else if let done = try? await table.progress(), done != last {
                last = done
                deadline = ContinuousClock.now + .seconds(60)
            }
            try await Task.sleep(for: .milliseconds(100))
        }
        if let ending = process.ending() {
            throw LaboratoryError("the last kalij run ended with \(ending): \(kalij.errors(of: "run"))")
        }
        await process.stop(seconds: 5)
    }

    private func gather(offered: Int, heard: [String]) async throws -> Evidence {
        let alice = Peer("alice", password: Self.password, server: server, laboratory: laboratory)
        let counts = tally.counts
        return Evidence(
            ownArchive: try await alice.archive(), peerArchive: try await bob.archive(),
            offered: offered, received: try await table.messages("in"), heard: heard, accepted: counts.accepted,
            uncertain: counts.uncertain)
    }

    private func summarize(_ evidence: Evidence, seconds: Double) -> KillResult {
        let counts = tally.counts
        var result = KillResult(server: options.server, seed: options.seed)
        result.seconds = seconds
        result.offered = evidence.offered
        result.incoming = evidence.incoming()
        result.outgoing = evidence.outgoing()
        result.kills = counts.lives.count
        result.sendKills = counts.sendKills
        result.sendFailures = counts.sendFailures
        result.crashes = counts.crashes
        result.killsWithUnacknowledgedOut = counts.lives.count { ($0.queued ?? 0) > 0 }
        let sessions = SessionHistory(watch.events)
        // ejabberd's archive ids are the time in microseconds.
        let arrivals =
            options.server == .ejabberd
            ? evidence.ownArchive.compactMap { Double($0.archiveID) }.map { $0 / 1e6 } : []
        result.killsWithUnacknowledgedIn = counts.lives.count {
            sessions.hadUnacknowledged(at: $0.killed, arrivals: arrivals)
        }
        // The first life is the one with the first bind.
        for life in counts.lives.dropFirst() {
            result.starts += 1
            let events = sessions.events(from: life.began, to: life.killed)
            if events.contains(where: { $0.isResumption }) {
                result.startsResumed += 1
            } else if events.contains(.bound) {
                result.startsBound += 1
            }
        }
        result.resumed = sessions.resumptions
        result.bound = sessions.binds - 1
        result.secondsOffline = sessions.secondsOffline
        return result
    }
}
