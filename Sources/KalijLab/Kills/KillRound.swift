/// A part of a run of kills, with its own pair of accounts and its own verdict.
public struct KillRound: Sendable {
    /// The result, and the evidence.
    public struct Outcome: Sendable {
        public var result: KillResult
        public var evidence: Evidence
        /// Kalij's data directory.
        public var data: String
    }

    let options: KillOptions
    let laboratory: Laboratory
    let server: any XMPPServer
    let proxy: CuttingProxy?
    let kalij: KalijCommand
    let alice: Peer
    let bob: Peer
    let table: RawTable
    let tally = Tally()
    let watch: SessionWatch
    private let seed: UInt64
    /// Takes the progress of this round; gives the progress of the run, from 0 to 1.
    private let progress: @Sendable (KillProgress) -> Double

    /// The password of all accounts.
    static let password = "secret"

    /// Creates both accounts and logs Kalij in.
    /// - Parameters:
    ///   - number: from 1; decides the accounts' names and the moments of the kills.
    ///   - port: for Kalij to connect to, if not the server's.
    static func prepare(
        _ options: KillOptions, number: Int, laboratory: Laboratory, server: any XMPPServer, proxy: CuttingProxy?,
        port: Int?,
        progress: @escaping @Sendable (KillProgress) -> Double
    ) async throws -> KillRound {
        let suffix = number == 1 ? "" : "\(number)"
        let users = ["alice" + suffix, "bob" + suffix]
        let peers = users.map { Peer($0, password: password, server: server, laboratory: laboratory) }
        let kalij = KalijCommand(options.kalij, data: users[0], laboratory: laboratory)
        let round = KillRound(
            options: options, laboratory: laboratory, server: server, proxy: proxy, kalij: kalij, alice: peers[0],
            bob: peers[1],
            table: RawTable(laboratory: laboratory, data: kalij.data),
            watch: SessionWatch(reader: server.sessionReader(account: peers[0].address)),
            seed: options.seed &+ UInt64(number - 1) &* 1_000_003,  // fits: counted from 1
            progress: progress)
        round.report(.accounts, incoming: 0)
        for user in users { try await server.register(user, password: password) }
        try await kalij.login(peers[0].address, password: password, server: server, port: port)
        return round
    }

    /// Carries out the round.
    func run() async throws -> Outcome {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await watch.follow() }
            defer { group.cancelAll() }
            return try await story()
        }
    }

    private func story() async throws -> Outcome {
        let began = ContinuousClock.now
        let chat = try await bob.chat(
            with: alice.address, label: "m", rate: options.rate, reconnects: options.failedResumes > 0,
            // A server without an archive sometimes delivers a stored message twice: the sender's id shows this.
            originIDs: options.archive != .always)
        try await killAll(chat)
        report(.draining, incoming: try chat.sent())
        let offered = try await chat.stopSending()
        let seconds = Double((ContinuousClock.now - began).components.seconds)
        try await drain(offered: offered)
        await chat.quit()
        report(.reading, incoming: offered)
        let heard = try chat.events().filter { $0.event == "received" }.compactMap(\.body)
        let evidence = try await gather(offered: offered, heard: heard)
        return Outcome(result: summarize(evidence, seconds: seconds), evidence: evidence, data: kalij.data)
    }

    /// Kills until all targets are reached, then until the senders have stopped.
    private func killAll(_ chat: Chat) async throws {
        let killer = Killer(
            kalij: kalij, table: table, options: options, tally: tally, watch: watch,
            losses: SessionBreaker(
                server: server, options: options.serverOptions, chat: chat, table: table, tally: tally, watch: watch),
            seed: seed)
        let replies = ReplySender(
            kalij: kalij, recipient: bob.address, killShare: options.sendKills, pause: options.sendPause,
            tally: tally, generator: SeededGenerator(seed: seed ^ 0x5eed))
        let first = try await killer.first()
        proxy?.cut(true)
        defer { proxy?.cut(false) }
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

    /// Ends the round once every target of the run is reached, or the accounts are to be new.
    private func watchTargets(_ chat: Chat) async throws {
        defer { tally.finish() }
        var (last, deadline) = (-1.0, ContinuousClock.now)
        while true {
            let incoming = try chat.sent()
            let done = report(.killing, incoming: incoming)
            if done >= 1 || max(incoming, tally.counts.accepted.count) >= options.messagesPerAccount { return }
            if done != last { (last, deadline) = (done, ContinuousClock.now + .seconds(hungAfter)) }
            guard ContinuousClock.now < deadline else {
                throw LaboratoryError("nothing has happened for \(hungAfter) s: \(kalij.errors(of: "run"))")
            }
            try await sleep(for: .milliseconds(200))
        }
    }

    @discardableResult
    private func report(_ phase: KillProgress.Phase, incoming: Int) -> Double {
        let counts = tally.counts
        return progress(
            KillProgress(
                phase: phase, account: alice.address, kills: counts.lives.count, incoming: incoming,
                outgoing: counts.accepted.count, fraction: 0))
    }
}
