/// Decides what happens to each publish, and learns from the providers' answers. No socket, no clock, no disk: events with their
/// times are the input, and actions are the output.
///
/// ```swift
/// var core = PushCore(settings: settings, hasher: hasher, seed: .random(in: 0...UInt64.max))
/// for action in core.publish(publish, now: now) { ... }
/// for action in core.deliver(.delivered, of: id, now: now) { ... }
/// for action in core.tick(now: now) { ... }        // at core.next
/// ```
///
/// Times are milliseconds since 1970 of a clock that never decreases: the wall clock at the start plus the monotonic time since.
public struct PushCore {
    struct Module {
        var settings: ModuleSettings
        var limiter: RateLimiter
        var health: ModuleHealth
        var pace = LatencySampler()
        var identity = HashedKey(high: 0, low: 0)
    }

    public private(set) var settings: Settings
    let keyring: Keyring
    public internal(set) var counters = Counters()
    /// Blocked tokens and domains.
    public internal(set) var blocks: BlockTables
    /// The sharing of blocks with other nodes; nil for a node alone.
    public internal(set) var sharing: Sharing?
    var modules: [String: Module] = [:]  // characters: by the names of configured modules.
    public internal(set) var domains: DomainRecords
    public internal(set) var known: KnownTokens
    var flights: PushTable
    var queued: PushTable
    var waiting: [HashedKey: UInt64] = [:]
    /// Pushes to be tried again.
    var retries = TimerHeap()
    /// Queued pushes and their due times.
    var dues = TimerHeap()
    var late = LateAnswers()
    /// Whether the process is about to end: nothing waits any more.
    public private(set) var isEnding = false
    var deadlines = FIFO<(id: UInt64, at: Milliseconds)>()
    var random: SeededRandom
    /// Of the latest push.
    public internal(set) var lastID: UInt64 = 0
    var now: Milliseconds = 0

    /// - Parameters:
    ///   - otherHashers: of other secrets, while secrets are being replaced.
    ///   - sharing: with other nodes; nil for a node alone.
    public init(
        settings: Settings, hasher: KeyHasher, otherHashers: [KeyHasher] = [], sharing: Sharing? = nil, seed: UInt64
    ) {
        self.settings = settings
        keyring = Keyring(hasher, others: otherHashers)
        blocks = BlockTables(settings)
        flights = PushTable(limit: settings.limits.inFlight)
        queued = PushTable(limit: settings.limits.queued)
        domains = DomainRecords(settings.limits)
        known = KnownTokens(limit: settings.limits.knownTokens, lifetime: settings.limits.known)
        random = SeededRandom(seed: seed)
        self.sharing = sharing
        configure(settings.modules)
        if let nodes = settings.nodes { _ = self.sharing?.configure(nodes, &blocks, now: 0) }
    }

    /// Other settings from now on. The state of remaining modules is kept.
    public mutating func reload(_ new: Settings) {
        settings = new
        domains.limits = new.limits
        blocks.reload(new)
        flights.limit = new.limits.inFlight
        queued.limit = new.limits.queued
        known.limit = new.limits.knownTokens
        known.lifetime = new.limits.known
        configure(new.modules)
    }

    /// The identities of the modules' pushes from now on. State learnt with other credentials, or with another app or
    /// place, is dropped.
    public mutating func identify(_ identities: [String: HashedKey]) {
        for (name, identity) in identities {
            guard let module = modules[name], module.identity != identity else { continue }
            modules[name]?.identity = identity
            modules[name]?.health = Self.makeHealth(settings.limits)
        }
    }

    private static func makeHealth(_ limits: LimitSettings) -> ModuleHealth {
        ModuleHealth(threshold: limits.breakerTokens, probeInterval: limits.probe)
    }

    private mutating func configure(_ all: [String: ModuleSettings]) {
        let limits = settings.limits
        for name in modules.keys where all[name] == nil { modules[name] = nil }
        for (name, settings) in all {
            if modules[name] == nil {
                modules[name] = Module(
                    settings: settings, limiter: RateLimiter(settings.rate), health: Self.makeHealth(limits))
            }
            modules[name]?.settings = settings
            modules[name]?.limiter.settings = settings.rate
            modules[name]?.health.threshold = limits.breakerTokens
            modules[name]?.health.probeInterval = limits.probe
        }
    }

    /// Pushes given to providers, or about to be given again, without an end yet.
    public var inFlight: Int { flights.count }
    /// Waiting pushes.
    public var queueLength: Int { queued.count }
    /// Tokens that are rate-limited at present.
    public var limitedTokens: Int { modules.values.reduce(0) { $0 + $1.limiter.count } }
    /// Nil for an unknown module.
    public func health(of module: String) -> ModuleHealth? { modules[module]?.health }

    /// When ``tick(now:)`` has something to do; nil for never.
    public var next: Milliseconds? {
        // A process about to end sends the whole queue, as fast as there is room.
        let due = dues.next.map { isEnding ? now : $0 }
        return [retries.next, deadlines.first?.at, late.next, flights.isFull ? nil : due, sharing?.next]
            .compactMap(\.self).min()
    }

    /// The wall clock has been stepped so far from the steady clock.
    public mutating func wallClock(isAhead offset: Milliseconds) { blocks.wallOffset = offset }

    /// The process is about to end: waiting pushes are sent now, and publishes are refused with `wait`.
    public mutating func end(now time: Milliseconds) -> [CoreAction] {
        isEnding = true
        return tick(now: time)
    }

    /// Whether nothing is left that a process about to end has to wait for.
    public var isQuiet: Bool { flights.count == 0 && late.count == 0 && dues.next == nil }

    mutating func advance(_ time: Milliseconds) { now = max(now, time) }

    mutating func makeID() -> UInt64 {
        // The highest id in a damaged database may be the largest number.
        lastID &+= 1
        return lastID
    }

    mutating func count(_ module: String, _ path: WritableKeyPath<Counters.Module, UInt64>) {
        counters.modules[module, default: Counters.Module()][keyPath: path] += 1
    }
}
