/// How a module does, and what that lets through: the breaker.
///
/// A wrong environment or key makes every token look bad. When many different tokens fail and none succeeds, tokens
/// prove nothing; only a probe goes out now and then, until one succeeds. The same while we are at fault ourselves.
public struct ModuleHealth: Sendable {
    public enum State: Sendable, Equatable {
        case healthy
        /// Many different tokens have failed, and none has succeeded since.
        case doubtful
        /// Our own fault, in the provider's words.
        case faulty(String)
    }

    /// What to do with a push.
    public enum Gate: Sendable, Equatable {
        case open
        /// The provider wants no pushes until then.
        case held(until: Milliseconds)
        /// Not now: a probe is under way, or was not long ago.
        case shut
    }

    private let threshold: Int
    private let probeInterval: Milliseconds
    public private(set) var state = State.healthy
    public private(set) var lastSuccess: Milliseconds?
    private var failed: Set<HashedKey> = []
    private var nextProbe: Milliseconds = 0
    private var heldUntil: Milliseconds = 0

    /// - Parameters:
    ///   - threshold: how many different tokens have to fail.
    ///   - probeInterval: between two probes.
    public init(threshold: Int, probeInterval: Milliseconds) {
        self.threshold = threshold
        self.probeInterval = probeInterval
    }

    /// Whether a push may go out; a probe counts as gone when this says `open`.
    public mutating func gate(now: Milliseconds) -> Gate {
        if heldUntil > now { return .held(until: heldUntil) }
        guard state != .healthy else { return .open }
        guard now >= nextProbe else { return .shut }
        nextProbe = now + probeInterval
        return .open
    }

    /// Whether a token that is not accepted is proven bad: not while the module is doubtful, and not without a success
    /// in the last 24 hours.
    public func provesTokens(now: Milliseconds) -> Bool {
        guard state == .healthy, let lastSuccess else { return false }
        return now - lastSuccess < 86_400_000
    }

    /// A push was taken.
    /// - Returns: whether the module was not healthy before.
    public mutating func succeeded(now: Milliseconds) -> Bool {
        lastSuccess = now
        failed = []
        defer { state = .healthy }
        return state != .healthy
    }

    /// A token was not accepted.
    /// - Returns: whether the module has become doubtful by it.
    public mutating func tokenFailed(_ key: HashedKey, now: Milliseconds) -> Bool {
        guard state == .healthy else { return false }
        failed.insert(key)
        guard failed.count >= threshold else { return false }
        failed = []
        state = .doubtful
        nextProbe = now + probeInterval
        return true
    }

    /// We are at fault.
    /// - Returns: whether that is news.
    public mutating func fault(_ words: String, now: Milliseconds) -> Bool {
        let isNews = state != .faulty(words)
        state = .faulty(words)
        nextProbe = now + probeInterval
        return isNews
    }

    /// The provider wants no pushes of the module for a while.
    public mutating func hold(until: Milliseconds) { heldUntil = max(heldUntil, until) }
}
