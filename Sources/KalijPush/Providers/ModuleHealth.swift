/// The health of a module, and the pushes let through: the breaker.
///
/// A wrong environment or key makes every token look bad. When many different tokens fail and none succeeds, tokens
/// prove nothing; only a probe goes out now and then, until a probe succeeds. The same holds while we are at fault
/// ourselves.
public struct ModuleHealth: Sendable {
    public enum State: Sendable, Equatable {
        case healthy
        /// Many different tokens have failed, and none has succeeded since.
        case doubtful
        /// Our own fault, in the provider's words.
        case faulty(String)
    }

    /// The decision about a push.
    public enum Gate: Sendable, Equatable {
        case open
        /// The provider wants no pushes until then.
        case held(until: Milliseconds)
        /// Not now: a probe is under way, or was not long ago.
        case shut
    }

    private struct Silence: Sendable {
        var since: Milliseconds
        var count = 0
        var words = ""
        var isTold = false
    }

    var threshold: Int
    var probeInterval: Milliseconds
    public private(set) var state = State.healthy
    public private(set) var lastSuccess: Milliseconds?
    private var kept: Milliseconds?
    private var failed: Set<HashedKey> = []
    private var silence: Silence?
    private var nextProbe: Milliseconds = 0
    private var heldUntil: Milliseconds = 0

    /// How many attempts in a row have to come to nothing before the provider counts as out of reach, and for how long.
    private static let silent = (count: 3, time: Milliseconds(10_000))

    /// - Parameters:
    ///   - threshold: how many different tokens have to fail.
    ///   - probeInterval: between two probes.
    public init(threshold: Int, probeInterval: Milliseconds) {
        self.threshold = threshold
        self.probeInterval = probeInterval
    }

    /// Whether a push may go out.
    public func gate(now: Milliseconds) -> Gate {
        if heldUntil > now { return .held(until: heldUntil) }
        return state == .healthy || now >= nextProbe ? .open : .shut
    }

    /// A push goes out; if the push is a probe, the next push has to wait.
    public mutating func sends(now: Milliseconds) {
        if state != .healthy { nextProbe = now + probeInterval }
    }

    /// Whether a refused token is proven bad: not while the module is doubtful, and not without a success in the last
    /// 24 hours.
    public func provesTokens(now: Milliseconds) -> Bool {
        guard state == .healthy, let lastSuccess else { return false }
        return now - lastSuccess < 86_400_000
    }

    /// A push was taken.
    /// - Returns: whether the module was not healthy before, and whether the success is to be kept: once a minute.
    public mutating func succeeded(now: Milliseconds) -> (isRecovery: Bool, isToBeKept: Bool) {
        defer {
            lastSuccess = now
            state = .healthy
            failed = []
        }
        let isToBeKept = kept.map { now - $0 >= 60_000 } ?? true
        if isToBeKept { kept = now }
        return (state != .healthy, isToBeKept)
    }

    /// A success from before the process.
    public mutating func restore(success: Milliseconds, now: Milliseconds) {
        guard success > 0, success <= now else { return }
        lastSuccess = max(lastSuccess ?? success, success)
        kept = lastSuccess
    }

    /// A token was not accepted.
    /// - Returns: if the module has just become doubtful, the tokens that caused the doubt.
    public mutating func tokenFailed(_ key: HashedKey, now: Milliseconds) -> Set<HashedKey>? {
        guard state == .healthy else { return nil }
        failed.insert(key)
        guard failed.count >= threshold else { return nil }
        defer { failed = [] }
        state = .doubtful
        nextProbe = now + probeInterval
        return failed
    }

    /// We are at fault.
    /// - Returns: whether the fault is new.
    public mutating func fault(_ words: String, now: Milliseconds) -> Bool {
        let isNews = state != .faulty(words)
        state = .faulty(words)
        nextProbe = now + probeInterval
        return isNews
    }

    /// The provider wants no pushes of the module for a while.
    public mutating func hold(until: Milliseconds) { heldUntil = max(heldUntil, until) }

    // MARK: Reach

    /// Why the provider counts as out of reach; nil while the provider answers.
    public var outOfReach: String? {
        silence.flatMap { $0.isTold ? $0.words : nil }
    }

    /// The provider has answered, in whatever way.
    /// - Returns: whether the provider was out of reach before.
    public mutating func answered() -> Bool {
        defer { silence = nil }
        return outOfReach != nil
    }

    /// An attempt has come to nothing: no connection, no answer, or the answer "not now".
    /// - Returns: whether the provider counts as out of reach from now on.
    public mutating func cameToNothing(_ words: String, now: Milliseconds) -> Bool {
        var silence = silence ?? Silence(since: now)
        defer { self.silence = silence }
        silence.words = words
        silence.count = min(silence.count + 1, Self.silent.count)
        guard !silence.isTold, silence.count == Self.silent.count, now - silence.since >= Self.silent.time else {
            return false
        }
        silence.isTold = true
        return true
    }
}
