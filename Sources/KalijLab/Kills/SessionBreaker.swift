/// Makes sessions unresumable, by each cause in turn.
struct SessionBreaker: Sendable {
    let server: any XMPPServer
    let options: ServerOptions
    let chat: Chat
    let table: RawTable
    let tally: Tally
    let watch: SessionWatch
    private var made = 0
    /// The restart of the server, while the killing continues.
    private var restart: Task<Void, any Error>?

    init(
        server: any XMPPServer, options: ServerOptions, chat: Chat, table: RawTable, tally: Tally, watch: SessionWatch
    ) {
        self.server = server
        self.options = options
        self.chat = chat
        self.table = table
        self.tally = tally
        self.watch = watch
    }

    /// Makes sure that the session of the just killed `kalij run` cannot be resumed. A restart of the server only
    /// begins here: `kalij run` is started and killed meanwhile.
    mutating func lose() async throws {
        try await finish()
        let causes = LossCause.allCases.filter { $0 != .restarted || options.archive == .always }
        let cause = causes[made % causes.count]
        made += 1
        switch cause {
        case .expired:
            await tally.hold()
            defer { tally.letGo() }
            await look()
            try await watch.untilLost()
        case .restarted:
            let server = server
            await look()
            tally.change { $0.restarts += 1 }
            restart = Task { try await server.restart() }
        case .queueLimit:
            await tally.hold()
            defer { tally.letGo() }
            await look()
            try await exceedQueue()
        }
    }

    private func look() async {
        guard let open = try? await table.unacknowledged(), open > 0 else { return }
        tally.change { $0.lossesWithUnacknowledged += 1 }
    }

    /// Waits until the server runs again after a restart.
    mutating func finish() async throws {
        try await restart?.value
        restart = nil
    }

    /// Has the other side send more than the server keeps for a session without a connection.
    private func exceedQueue() async throws {
        let count = (options.queueLimit ?? 0) + 20
        let wanted = try chat.sent() + count
        try chat.burst(count)
        let deadline = ContinuousClock.now + .seconds(hungAfter)
        while try chat.sent() < wanted, ContinuousClock.now < deadline {
            try await sleep(for: .milliseconds(20))
        }
    }
}
