import KalijTransport

/// The connections to the servers of the nodes' streams, and the turns in which their entries are taken.
final class NodeConnections {
    private let loop: EventLoop
    // traps: never, the server owns this object and outlives it
    private unowned let server: PushServer
    private let settings: [RedisSettings]
    private var connections: [RedisConnection] = []
    private var isTurnPlanned = false

    init(_ server: PushServer, _ nodes: NodesSettings) {
        self.server = server
        loop = server.loop
        settings = nodes.redis
        connections = settings.enumerated().map { number, settings in
            RedisConnection(loop: loop, settings: settings) { [weak self] in self?.happened($0, at: number) }
        }
    }

    func open() { for connection in connections { connection.open() } }

    func close() { for connection in connections { connection.close() } }

    func perform(_ action: RedisAction, at number: Int) {
        if number < connections.count { connections[number].perform(action) }
    }

    private func happened(_ event: RedisConnection.Event, at number: Int) {
        let topic = "redis \(number)"
        switch event {
        case .connected: server.nodes(.connected(number))
        case .reply(let reply):
            let wasUp = isUp(number)
            server.nodes(.reply(reply, number))
            if !wasUp, isUp(number) {
                connections[number].isWell()
                server.lines.isOver(topic)
                server.report(.notice, "connected to Redis at \(settings[number].label)")
            }
            planTurn()
        case .disconnected(let reason):
            server.nodes(.disconnected(number))
            server.report(.alarm, "not connected to Redis at \(settings[number].label): \(reason)", about: topic)
        }
    }

    private func isUp(_ number: Int) -> Bool { server.core.sharing?.links[number].isUp ?? false }

    /// One entry for each turn of the loop, and most of the time for pushes. While the disk refuses records, they stay
    /// where they are.
    private func planTurn(after pause: Double = 0) {
        guard !isTurnPlanned, server.core.sharing?.hasEntries == true else { return }
        isTurnPlanned = true
        loop.schedule(after: server.keeper?.failure == nil ? pause : 1) { [weak self] in
            guard let self else { return }
            isTurnPlanned = false
            let began = ContinuousClock.now
            if server.keeper?.failure == nil {
                server.nodes(.turn)
                server.flush()
            }
            planTurn(after: 3 * ((ContinuousClock.now - began) / .seconds(1)))
        }
    }
}

extension RedisSettings {
    /// The command for the password; nil without one.
    /// - Throws: `SettingsError` if there is no password in the file.
    func login() throws(SettingsError) -> RedisCommand? {
        guard let passwordFile else { return nil }
        let bytes = try File.read(passwordFile, key: "nodes.redis.passwordFile")
        let line = bytes.prefix { $0 != 0x0a && $0 != 0x0d }
        guard !line.isEmpty else { throw SettingsError("nodes.redis.passwordFile", "\(passwordFile) is empty") }
        return RedisCommand(words: ["AUTH"] + (user.map { [$0] } ?? []), value: Array(line))
    }
}

extension StateKeys {
    /// What is needed to share blocks with other nodes; nil for a node alone.
    func sharing(_ settings: Settings, now: Milliseconds) throws -> Sharing? {
        guard let nodes = settings.nodes else { return nil }
        var logins: [RedisCommand?] = []
        for server in nodes.redis { logins.append(try server.login()) }
        return try Sharing(nodes, secrets: cluster, logins: logins, seed: .random(in: 0...UInt64.max), now: now)
    }
}
