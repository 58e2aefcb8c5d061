/// Decides what happens to each publish, and learns from what providers say. No socket, no clock, no disk: events come
/// in with their time, and actions come out.
///
/// ```swift
/// var core = PushCore(settings: settings, hasher: hasher, seed: .random(in: 0...UInt64.max))
/// for action in core.publish(publish, now: now) { ... }
/// for action in core.deliver(.delivered, of: id, now: now) { ... }
/// for action in core.tick(now: now) { ... }        // at core.next
/// ```
///
/// Times are milliseconds since 1970 of a clock that never goes back: the wall clock at the start plus the monotonic
/// time since.
public struct PushCore {
    struct Module {
        var settings: ModuleSettings
        var limiter: RateLimiter
        var health: ModuleHealth
    }

    public private(set) var settings: Settings
    let hasher: KeyHasher
    /// Of the secret before, while it is being replaced.
    let previousHasher: KeyHasher?
    public internal(set) var counters = Counters()
    /// Tokens and domains that nothing is sent for.
    public internal(set) var blocklist: Blocklist
    var modules: [String: Module] = [:]
    var domains: DomainRecords
    var known: KnownTokens
    var flights: [UInt64: Flight] = [:]
    var queued: [UInt64: Flight] = [:]
    var waiting: [HashedKey: UInt64] = [:]
    var agenda = Agenda()
    var deadlines = FIFO<(id: UInt64, at: Milliseconds)>()
    var random: SeededRandom
    var lastID: UInt64 = 0
    var now: Milliseconds = 0

    public init(settings: Settings, hasher: KeyHasher, previousHasher: KeyHasher? = nil, seed: UInt64) {
        self.settings = settings
        self.hasher = hasher
        self.previousHasher = previousHasher
        blocklist = Blocklist(limit: settings.limits.blockedTokens)
        domains = DomainRecords(settings.limits)
        known = KnownTokens(limit: settings.limits.knownTokens, lifetime: settings.limits.known)
        random = SeededRandom(seed: seed)
        take(settings.modules)
    }

    /// Other settings from now on. What is known of modules that stay is kept.
    public mutating func reload(_ new: Settings) {
        settings = new
        domains.limits = new.limits
        take(new.modules)
    }

    private mutating func take(_ all: [String: ModuleSettings]) {
        let limits = settings.limits
        for name in modules.keys where all[name] == nil { modules[name] = nil }
        for (name, settings) in all {
            if modules[name] == nil {
                modules[name] = Module(
                    settings: settings, limiter: RateLimiter(settings.rate),
                    health: ModuleHealth(threshold: limits.breakerTokens, probeInterval: limits.probe))
            }
            modules[name]?.settings = settings
            modules[name]?.limiter.settings = settings.rate
        }
    }

    /// Pushes that were given to providers, or will be again, and have no end yet.
    public var inFlight: Int { flights.count }
    /// Pushes that wait.
    public var queueLength: Int { queued.count }
    /// Tokens that are rate-limited at present.
    public var limitedTokens: Int { modules.values.reduce(0) { $0 + $1.limiter.count } }
    public var knownTokens: Int { known.count }
    public var knownDomains: Int { domains.count }
    public func health(of module: String) -> ModuleHealth.State? { modules[module]?.health.state }

    /// When ``tick(now:)`` has something to do; nil for never.
    public var next: Milliseconds? {
        switch (agenda.next, deadlines.first?.at) {
        case (let one?, let other?): min(one, other)
        case (let one, let other): one ?? other
        }
    }

    mutating func advance(_ time: Milliseconds) { now = max(now, time) }

    mutating func makeID() -> UInt64 {
        lastID += 1
        return lastID
    }

    mutating func count(_ module: String, _ path: WritableKeyPath<Counters.Module, UInt64>) {
        counters.modules[module, default: Counters.Module()][keyPath: path] += 1
    }
}

/// SplitMix64: jitter needs no secrets, and tests need the same numbers each time.
struct SeededRandom: RandomNumberGenerator, Sendable {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}
