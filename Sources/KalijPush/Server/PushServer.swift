import KalijStore
import KalijTransport
import KalijXML

/// The server: an XMPP component that sends pushes. One thread, that of its loop.
public final class PushServer {
    /// What to do with a line for the operator.
    public typealias Report = (_ isAlarm: Bool, _ line: String) -> Void

    private let loop: EventLoop
    private let report: Report
    private let configurationPath: String
    private let clock = SteadyClock()
    private(set) var core: PushCore
    private var database: PushDatabase?
    private(set) var providers: [String: any PushProvider]
    private var retired: [any PushProvider] = []
    private var link: ComponentLink?
    private var pending: [CoreAction] = []
    private var isFlushPlanned = false
    private var ticker: Timer?
    private var tickerAt: Milliseconds = .max
    private var storeFailure: String?
    private(set) var latencies: [String: Histogram] = [:]
    private var nextCleanUp: Milliseconds = 0
    private var drained: (() -> Void)?
    private var tokenBytes: Int

    /// Reads a configuration and everything that it names; connects to nobody yet.
    /// - Parameters:
    ///   - path: of the `settings.json`.
    ///   - report: called from the loop.
    /// - Throws: `SettingsError`, or `StoreError` if the database cannot be used.
    public init(loop: EventLoop, configuration path: String, report: @escaping Report) throws {
        self.loop = loop
        self.report = report
        configurationPath = path
        let loaded = try Self.load(path, loop: loop, report: report)
        providers = loaded.providers
        tokenBytes = loaded.settings.limits.tokenBytes
        let state = loaded.settings.state
        let secret = try state.secretFile.map { try Secret.read($0, key: "state.secretFile") } ?? Secret.random()
        let previous = try state.previousSecretFile.map { try File.read($0, key: "state.previousSecretFile") }
        core = PushCore(
            settings: loaded.settings, hasher: try KeyHasher(secret: secret),
            previousHasher: try previous.map { try KeyHasher(secret: $0) }, seed: .random(in: 0...UInt64.max))
        if let file = state.database {
            database = try PushDatabase(
                path: file, seal: try Seal(secret: secret), previousSeal: try previous.map { try Seal(secret: $0) })
        }
        try restore()
    }

    /// Reads a configuration and what it names, and says what is wrong.
    /// - Throws: `SettingsError`.
    public static func check(_ path: String, loop: EventLoop) throws {
        let loaded = try load(path, loop: loop) { _, _ in }
        for provider in loaded.providers.values { provider.close() }
    }

    private static func load(
        _ path: String, loop: EventLoop, report: @escaping Report
    ) throws(SettingsError) -> (settings: Settings, providers: [String: any PushProvider]) {
        let settings = try Settings(json: try File.read(path, key: ""))
        var providers: [String: any PushProvider] = [:]
        for (name, module) in settings.modules {
            providers[name] = try makeProvider(name, module, loop) { report(false, "\(name): \($0)") }
        }
        return (settings, providers)
    }

    private static func makeProvider(
        _ name: String, _ module: ModuleSettings, _ loop: EventLoop, _ notice: @escaping (String) -> Void
    ) throws(SettingsError) -> any PushProvider {
        let path = "pushModules.\(name)"
        switch module.provider {
        case .log: return LogProvider(loop: loop, write: notice)
        case .apns(let settings):
            return try APNsProvider(loop: loop, settings: settings, key: path + ".apns", notice: notice)
        case .fcm(let settings):
            return try FCMProvider(loop: loop, settings: settings, key: path + ".fcm", notice: notice)
        }
    }

    private func restore() throws {
        guard let database else { return }
        let now = clock.now
        let limits = core.settings.limits
        let kept = try database.load(now: now, lifetime: limits.known, limit: limits.knownTokens / 2)
        let actions = core.restore(queued: kept.queued, blocks: kept.blocks, known: kept.known, now: now)
        try database.apply(actions)
        if !kept.queued.isEmpty { report(false, "\(kept.queued.count) queued pushes from before") }
    }

    // MARK: Running

    /// Connects to the XMPP server.
    public func start() {
        let settings = core.settings
        let link = ComponentLink(
            loop: loop, settings: settings.component, reconnect: settings.reconnect,
            stanzaBytes: settings.limits.stanzaBytes
        ) { [weak self] in self?.happened($0) }
        self.link = link
        link.open()
        planTick()
    }

    /// Where metrics and health are to be served, if anywhere.
    public var http: HTTPSettings? { core.settings.http }

    /// Whether the database takes what is to be kept.
    var isStoring: Bool { storeFailure == nil }

    /// Whether the component is connected.
    public var isConnected: Bool { link?.isUp ?? false }

    /// Reads the configuration again. If anything in it is wrong, the old one stays.
    public func reload() {
        do {
            let loaded = try Self.load(configurationPath, loop: loop, report: report)
            let old = Array(providers.values)
            providers = loaded.providers
            tokenBytes = loaded.settings.limits.tokenBytes
            core.reload(loaded.settings)
            link?.reload(loaded.settings.component)
            retire(old)
            report(false, "configuration read again")
        } catch {
            report(true, "the configuration stays as it was: \(error)")
        }
    }

    /// What was sent through them gets its time to end.
    private func retire(_ old: [any PushProvider]) {
        retired += old
        loop.schedule(after: 15) { [weak self] in
            for provider in old { provider.close() }
            self?.retired.removeAll { one in old.contains { $0 === one } }
        }
    }

    /// Takes no more publishes, waits up to ten seconds for the pushes on their way, ends.
    public func drain(_ finished: @escaping () -> Void) {
        guard drained == nil else { return }
        drained = finished
        link?.isReading = false
        report(false, "ending, \(core.inFlight) pushes on their way")
        loop.schedule(after: 10) { [weak self] in self?.end() }
        endIfDrained()
    }

    private func endIfDrained() {
        if drained != nil, core.inFlight == 0, pending.isEmpty { end() }
    }

    private func end() {
        guard let finished = drained else { return }
        drained = nil
        flush()
        ticker?.cancel()
        for provider in providers.values { provider.close() }
        guard let link else { return loop.enqueue(finished) }
        link.close(finished)
    }

    private func happened(_ event: ComponentLink.Event) {
        switch event {
        case .up: report(false, "connected to the XMPP server as \(core.settings.component.hostname)")
        case .down(let reason): report(true, "not connected to the XMPP server: \(reason)")
        case .stanza(let stanza): received(Inbound(stanza, tokenBytes: tokenBytes))
        case .skipped(let skipped): received(Inbound(skipped))
        }
    }

    private func received(_ inbound: Inbound) {
        switch inbound {
        case .publish(let publish): take(core.publish(publish, now: clock.now))
        case .malformed(let requester, let domain, _):
            take(core.malformed(requester, domain: domain, now: clock.now))
        case .discovery(let requester): link?.send(Answer.information.bytes(for: requester))
        case .ping(let requester): link?.send(Answer.done.bytes(for: requester))
        case .unsupported(let requester): link?.send(Answer.unsupported.bytes(for: requester))
        case .ignored: break
        }
    }

    // MARK: Actions

    private func take(_ actions: [CoreAction]) {
        pending += actions
        planTick()
        guard !isFlushPlanned, !pending.isEmpty else { return }
        isFlushPlanned = true
        loop.enqueue { [weak self] in
            self?.isFlushPlanned = false
            self?.flush()
        }
    }

    /// First the disk, then the world: what is answered as queued survives us from then on.
    private func flush() {
        let actions = pending
        pending = []
        let isKept = keep(actions)
        var previousWasKeep = false
        for action in actions {
            switch action {
            case .answer(let requester, let answer):
                let isLost = !isKept && previousWasKeep && answer == .done
                link?.send((isLost ? Answer.unavailable : answer).bytes(for: requester))
                previousWasKeep = false
            case .keep: previousWasKeep = true
            case .send(let delivery):
                previousWasKeep = false
                send(delivery)
            case .alarm(let module, let text, let isOver): report(!isOver, "\(module): \(text)")
            case .drop, .block, .know: break
            }
        }
        endIfDrained()
    }

    /// - Returns: false if something was to be kept and could not be.
    private func keep(_ actions: [CoreAction]) -> Bool {
        guard let database, actions.contains(where: \.isForDisk) else { return true }
        do {
            try database.apply(actions)
            if storeFailure != nil { report(false, "the database can be written again") }
            storeFailure = nil
            return true
        } catch {
            let words = "\(error)"
            if storeFailure != words { report(true, "the database cannot be written: \(words)") }
            storeFailure = words
            return false
        }
    }

    private func send(_ delivery: Delivery) {
        guard let provider = providers[delivery.module] else {
            return loop.enqueue { [weak self] in self?.ended(delivery.id, .transient("the module is gone")) }
        }
        let began = loop.now
        provider.send(delivery) { [weak self] verdict in
            guard let self else { return }
            latencies[delivery.module, default: Histogram()].add(loop.now - began)
            ended(delivery.id, verdict)
        }
    }

    private func ended(_ id: UInt64, _ verdict: Verdict) {
        take(core.deliver(verdict, of: id, now: clock.now))
        if drained != nil, !isFlushPlanned { endIfDrained() }
    }

    // MARK: Time

    private func planTick() {
        // At least once a minute, for what is to be cleaned up.
        let now = clock.now
        let next = min(core.next ?? .max, now + 60_000)
        guard ticker == nil || next < tickerAt else { return }
        ticker?.cancel()
        tickerAt = next
        ticker = loop.schedule(after: Double(max(0, next - now)) / 1000 + 0.001) { [weak self] in self?.tick() }
    }

    private func tick() {
        ticker = nil
        tickerAt = .max
        let now = clock.now
        take(core.tick(now: now))
        if now >= nextCleanUp {
            nextCleanUp = now + 600_000
            try? database?.cleanUp(now: now, lifetime: core.settings.limits.known)
        }
        planTick()
    }
}

extension CoreAction {
    /// Whether it is for the database.
    var isForDisk: Bool {
        switch self {
        case .keep, .drop, .block, .know: true
        case .answer, .send, .alarm: false
        }
    }
}
