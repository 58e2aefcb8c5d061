/// The main job: `kalij run` is killed over and over while messages are sent and received, and at the end nothing is missing.
///
/// Alice's account is Kalij's; Bob's is the independent client. Bob sends numbered messages ("m 1", "m 2", ...) all
/// the time; `kalij send` processes queue numbered replies ("r 1", ...). The truth is the server's archive. A long run
/// is made of rounds, each with a new Alice and a new Bob.
public struct KillRun: Sendable {
    private let options: KillOptions
    private let laboratory: Laboratory
    private let server: any XMPPServer
    private let proxy: CuttingProxy?
    /// The port for Kalij to connect to, if not the server's.
    private let port: Int?
    private let progress: @Sendable (KillProgress) -> Void

    private init(
        _ options: KillOptions, laboratory: Laboratory, server: any XMPPServer, proxy: CuttingProxy?, port: Int?,
        progress: @escaping @Sendable (KillProgress) -> Void
    ) {
        self.options = options
        self.laboratory = laboratory
        self.server = server
        self.proxy = proxy
        self.port = port
        self.progress = progress
    }

    /// Starts a server, and the proxy if connections are to be cut.
    /// - Parameters:
    ///   - step: takes the next step, in words for people.
    ///   - progress: called about five times a second.
    public static func prepare(
        _ options: KillOptions, laboratory: Laboratory, step: (String) -> Void = { _ in },
        progress: @escaping @Sendable (KillProgress) -> Void = { _ in }
    ) async throws -> KillRun {
        step("starting \(options.server.rawValue) in \(laboratory.directory)")
        let server = try await makeServer(options.server, in: laboratory, options: options.serverOptions)
        try await server.start()
        step("it listens on 127.0.0.1:\(server.port)")
        let proxy =
            options.cuts > 0
            ? try CuttingProxy(to: server.port, share: options.cuts, seed: options.seed ^ 0xc075) : nil
        if let proxy { step("kalij reaches it through a proxy on port \(proxy.port), which cuts connections") }
        let way = try await options.way?(server)
        return KillRun(
            options, laboratory: laboratory, server: server, proxy: proxy, port: way ?? proxy?.port, progress: progress)
    }

    /// Carries out the whole run, and ends the server.
    /// - Returns: the figures, and the outcome of each pair of accounts.
    /// - Throws: ``LaboratoryError`` if the run cannot be carried out; a run with lost messages is no error here.
    public func run() async throws -> (result: KillResult, rounds: [KillRound.Outcome]) {
        var sum = KillResult(server: options.server, seed: options.seed, archive: options.archive)
        var outcomes: [KillRound.Outcome] = []
        repeat {
            let done = sum
            let round = try await KillRound.prepare(
                options, number: outcomes.count + 1, laboratory: laboratory, server: server, proxy: proxy,
                port: port
            ) { report(done, $0) }
            let outcome = try await round.run()
            sum += outcome.result
            outcomes.append(outcome)
        } while fraction(of: sum) < 1
        sum.cuts = proxy?.cuts ?? CutCounts()
        proxy?.stop()
        await server.stop()
        return (sum, outcomes)
    }

    /// Reports the progress of the whole run, given the result of the rounds before.
    /// - Returns: from 0 to 1.
    private func report(_ before: KillResult, _ part: KillProgress) -> Double {
        var all = part
        all.kills += before.kills
        all.incoming += before.offered
        all.outgoing += before.outgoing.expected
        all.fraction = fraction(kills: all.kills, incoming: all.incoming, outgoing: all.outgoing)
        progress(all)
        return all.fraction
    }

    private func fraction(of result: KillResult) -> Double {
        fraction(kills: result.kills, incoming: result.offered, outgoing: result.outgoing.expected)
    }

    private func fraction(kills: Int, incoming: Int, outgoing: Int) -> Double {
        let messages = Double(max(1, options.messages))
        return min(
            Double(kills) / Double(max(1, options.kills)), Double(incoming) / messages, Double(outgoing) / messages, 1)
    }
}
