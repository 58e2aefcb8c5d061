import KalijTransport

/// The server: an XMPP component that sends pushes. Runs on a single thread, the loop's.
public final class PushServer {
    /// Takes a line for the operator.
    public typealias Report = (_ priority: LinePriority, _ line: String) -> Void

    let loop: EventLoop
    var lines: LineWriter
    private let configuration: ConfigurationFile
    let clock = SteadyClock()
    var core: PushCore
    var keeper: StateWriter?
    private(set) var providers: [String: any PushProvider]
    private var retired: [any PushProvider] = []
    private(set) var link: ComponentLink?
    /// Connections to the servers of the nodes' streams, by number.
    private(set) var connections: NodeConnections?
    var latencies: [String: Histogram] = [:]  // characters: by the names of configured modules.
    private(set) var tokenBytes: Int

    // PushServer+Actions: actions still to be performed, first those on the disk, then all others.
    var pending: [CoreAction] = []
    var isFlushPlanned = false
    var isWorkOffPlanned = false
    var hasReportedStoreFailure = false

    // PushServer+Time
    var ticker: Timer?
    var tickerAt: Milliseconds = .max
    let database: PushDatabase?
    var kept: KeptState?
    var isLoaded = false
    /// Why the stored state could not be read.
    var loadFailure: String?

    /// Why the component is not connected.
    private(set) var linkFailure: String?
    private var drained: (() -> Void)?

    /// Reads a configuration and all files named there, but not the content of the database; connects to nobody yet.
    /// - Parameters:
    ///   - path: of the `settings.json`.
    ///   - report: called from the loop.
    /// - Throws: `SettingsError`; `StoreError` if the database cannot be used; another error if another process uses it.
    public init(loop: EventLoop, configuration path: String, report: @escaping Report) throws {
        self.loop = loop
        _ = ProcessFigures.start
        lines = LineWriter(report)
        let settings = try Settings(file: path)
        configuration = ConfigurationFile(path: path, settings: settings)
        let keys = try StateKeys(settings.state, settings.nodes)
        core = PushCore(
            settings: settings, hasher: keys.hasher, otherHashers: keys.otherHashers,
            sharing: try keys.sharing(settings, now: clock.now), seed: .random(in: 0...UInt64.max))
        core.identify(try Self.identities(settings, keys.hasher))
        database = try settings.state.database.map {
            try PushDatabase(path: $0, seal: keys.seal, previousSeal: keys.previousSeal)
        }
        tokenBytes = settings.limits.tokenBytes
        providers = [:]
        if let database {
            core.restore(lastID: database.lastID)
            keeper = StateWriter(database)
            kept = KeptState(database, knownLimit: settings.limits.knownTokens / 2)
        }
        providers = try Self.makeProviders(settings, loop) { [weak self] in self?.report($0, $1, about: $2) }
        for warning in settings.warnings(path) { self.report(.alarm, warning) }
        if let (priority, line) = try database.flatMap({ try keys.record(in: $0) }) { self.report(priority, line) }
        guard let nodes = settings.nodes, let database else { return }
        self.nodes(.restored(try database.positions(), excluded: try database.excludedNodes()))
        connections = NodeConnections(self, nodes)
    }

    /// Reads a configuration and the files named there, and reports errors. Changes nothing and connects to nobody.
    /// - Returns: warnings: settings that work and should be changed.
    /// - Throws: the errors of ``init(loop:configuration:report:)``.
    public static func check(_ path: String, loop: EventLoop) throws -> [String] {
        let settings = try Settings(file: path)
        let errors = SettingsErrors()
        try errors.collect {
            for provider in try makeProviders(settings, loop, { _, _, _ in }).values { provider.close() }
        }
        try errors.collect { try StateKeys.check(settings.state, settings.nodes) }
        for server in settings.nodes?.redis ?? [] { try errors.collect { _ = try server.login() } }
        try errors.check()
        return settings.warnings(path)
    }

    private static func identities(
        _ settings: Settings, _ hasher: KeyHasher
    ) throws(SettingsError) -> [String: HashedKey] {
        var identities: [String: HashedKey] = [:]  // characters: by the names of configured modules.
        for (name, module) in settings.modules {
            identities[name] = hasher.key(identity: try module.identity("pushModules.\(name)"), module: name)
        }
        return identities
    }

    // MARK: Running

    /// Reads the stored state, and connects to the XMPP server afterwards.
    public func start() {
        let settings = core.settings
        link = ComponentLink(
            loop: loop, settings: settings.component, reconnect: settings.reconnect,
            stanzaBytes: settings.limits.stanzaBytes
        ) { [weak self] in self?.happened($0) }
        loadPart()
        cleanUp()
        cleanUpDatabase()
    }

    /// The stored state is read.
    func loaded() {
        kept = nil
        isLoaded = true
        if core.queueLength > 0 { report(.notice, "\(core.queueLength) queued pushes from before") }
        if drained == nil { link?.open() }
        if drained == nil { connections?.open() }
        planTick()
    }

    /// Where metrics and health are to be served, if anywhere.
    public var http: HTTPSettings? { core.settings.http }

    /// Whether the component is connected.
    public var isConnected: Bool { link?.isUp ?? false }

    func report(_ priority: LinePriority, _ line: String, about topic: String? = nil) {
        lines.write(priority, line, about: topic, now: loop.now)
    }

    /// Reads the configuration again. After an error the old configuration stays.
    public func reload() {
        do throws(SettingsError) {
            let settings = try Settings(file: configuration.path)
            guard settings.nodes.isLike(core.settings.nodes) else {
                throw SettingsError("nodes", "only others may change without a restart")
            }
            let identities = try Self.identities(settings, core.keyring.present)
            let old = Array(providers.values)
            providers = try Self.makeProviders(settings, loop) { [weak self] in self?.report($0, $1, about: $2) }
            tokenBytes = settings.limits.tokenBytes
            core.reload(settings)
            core.identify(identities)
            if let nodes = settings.nodes { self.nodes(.configured(nodes)) }
            link?.reload(settings.component, reconnect: settings.reconnect)
            retire(old)
            planTick()
            for note in configuration.notes(on: settings) { report(.alarm, note) }
            report(.notice, "configuration read again")
        } catch {
            for line in error.lines {
                let fault = "\(configuration.path): \(line)"
                report(.alarm, "the new configuration cannot be used, the old one stays: \(fault)")
            }
        }
    }

    /// Pushes sent through the old providers get their time to end.
    private func retire(_ old: [any PushProvider]) {
        retired += old
        loop.schedule(after: 15) { [weak self] in
            for provider in old { provider.close() }
            self?.retired.removeAll { one in old.contains { $0 === one } }
        }
    }

    func nodes(_ event: ClusterEvent) {
        core.wallClock(isAhead: clock.wallOffset)
        enqueue(core.nodes(event, now: clock.now))
    }

    func happened(_ event: ComponentLink.Event) {
        switch event {
        case .up:
            linkFailure = nil
            lines.isOver("component")
            report(.notice, "connected to the XMPP server as \(core.settings.component.hostname)")
        case .down(let reason):
            linkFailure = reason
            report(.alarm, "not connected to the XMPP server: \(reason)", about: "component")
        case .stanza(let stanza): received(Inbound(stanza, tokenBytes: tokenBytes))
        case .skipped(let skipped): received(Inbound(skipped))
        }
    }

    // MARK: Ending

    /// Sends the waiting pushes, waits up to ten seconds for the pushes in flight, and ends. Publishes of that time are answered `wait`.
    public func drain(_ finished: @escaping () -> Void) {
        guard drained == nil else { return }
        drained = finished
        report(.notice, "ending, \(core.inFlight) pushes on their way, \(core.queueLength) waiting")
        loop.schedule(after: 10) { [weak self] in self?.end() }
        enqueue(core.end(now: clock.now))
        endIfDrained()
    }

    func endIfDrained() {
        if drained != nil, core.isQuiet, pending.isEmpty { end() }
    }

    private func end() {
        guard let finished = drained else { return }
        drained = nil
        kept = nil
        flush()
        while let keeper, keeper.workOff(now: clock.now) {}
        ticker?.cancel()
        for provider in providers.values { provider.close() }
        connections?.close()
        guard let link else { return loop.enqueue(finished) }
        link.close(finished)
    }
}
