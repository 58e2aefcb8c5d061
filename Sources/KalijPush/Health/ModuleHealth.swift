/// The health of a module, and which pushes may be sent: the circuit breaker.
///
/// A wrong environment or key makes every token look bad. When many different tokens fail that have worked before, and none
/// succeeds, failures prove nothing about tokens; only occasional probes are sent, until one succeeds. The same holds while the
/// fault is this server's. Invented tokens do not count here: whoever invents tokens must not stop the pushes of others.
public struct ModuleHealth: Sendable {
    public enum State: Sendable, Equatable {
        case healthy
        /// Many different tokens that have worked before have failed, and none has succeeded since.
        case doubtful
        /// A fault of this server or its settings, in the provider's words.
        case faulty(String)
    }

    /// The decision about a push.
    public enum Gate: Sendable, Equatable {
        case open
        /// The provider accepts no pushes until then.
        case held(until: Milliseconds)
        /// Not now: a probe is under way, or was not long ago.
        case shut
    }

    /// The meaning of a token's refusal.
    public enum Refusal: Sendable, Equatable {
        /// The token is bad.
        case proven
        /// Proves nothing. `isNews` when many tokens have been refused by now, and none was ever accepted.
        case doubted(isNews: Bool)
        /// The breaker opens. These tokens were refused before it did.
        case opens(Set<HashedKey>)
    }

    /// The meaning of an answer that blames this server.
    public enum Blame: Sendable, Equatable {
        /// Only an odd answer so far.
        case odd(isNews: Bool)
        case fault(isNews: Bool)
    }

    var threshold: Int
    var probeInterval: Milliseconds
    public private(set) var state = State.healthy
    /// When a push was taken last; nil if unknown.
    public private(set) var lastSuccess: Milliseconds?
    var reach = Reachability()
    private var kept: Milliseconds?
    private var failed: [HashedKey: HashedKey?] = [:]
    private var refused: Set<HashedKey> = []
    private var owners = RecentOwners()
    private var trouble = FaultDetector()
    private var nextProbe: Milliseconds = 0
    /// Probes with a token without a proven success are rare.
    private var nextForeignProbe: Milliseconds = 0
    private var heldUntil: Milliseconds = 0

    /// - Parameters:
    ///   - threshold: how many different tokens have to fail.
    ///   - probeInterval: between two probes.
    public init(threshold: Int, probeInterval: Milliseconds) {
        self.threshold = threshold
        self.probeInterval = probeInterval
    }

    /// The problem that keeps the module from working, in words; nil if there is none.
    public var problem: String? {
        switch state {
        case .doubtful: "many tokens that worked before fail, and none succeeds"
        case .faulty(let words): words
        case .healthy: reach.problem.map { "the provider is out of reach: \($0)" }
        }
    }

    // MARK: Before a push

    /// Whether a push may be sent.
    public func gate(isKnown: Bool, now: Milliseconds) -> Gate {
        if heldUntil > now { return .held(until: heldUntil) }
        if state == .healthy { return .open }
        // Without a success there are no proven tokens to wait for.
        return now >= (isKnown || !hasSucceeded(now) ? nextProbe : nextForeignProbe) ? .open : .shut
    }

    /// A push is sent; if it is a probe, the next push has to wait.
    public mutating func sends(now: Milliseconds) {
        if state != .healthy { planProbes(now) }
    }

    private mutating func planProbes(_ now: Milliseconds) {
        nextProbe = now + probeInterval
        if nextForeignProbe <= now { nextForeignProbe = now + 10 * probeInterval }
    }

    private func hasSucceeded(_ now: Milliseconds) -> Bool { lastSuccess.map { now - $0 < 86_400_000 } ?? false }

    // MARK: After a push

    /// A push was accepted.
    /// - Returns: whether the module was not healthy before, and whether the success is to be kept: once a minute.
    public mutating func succeeded(_ witness: TokenSample, now: Milliseconds) -> (isRecovery: Bool, isToBeKept: Bool) {
        defer {
            lastSuccess = now
            begin()
        }
        if let owner = witness.owner { owners.add(owner, now: now) }
        trouble.judged()
        let isToBeKept = kept.map { now - $0 >= 60_000 } ?? true
        if isToBeKept { kept = now }
        return (state != .healthy, isToBeKept)
    }

    private mutating func begin() {
        state = .healthy
        failed = [:]
        refused = []
    }

    /// A success from before the process.
    public mutating func restore(success: Milliseconds, now: Milliseconds) {
        guard success > 0, success <= now else { return }
        lastSuccess = max(lastSuccess ?? success, success)
        kept = lastSuccess
    }

    /// The provider has judged a token without accepting the push: a fault of this server is over.
    /// - Returns: whether there was a fault.
    public mutating func judged() -> Bool {
        trouble.judged()
        guard case .faulty = state else { return false }
        begin()
        return true
    }

    /// A token was not accepted.
    public mutating func refused(_ witness: TokenSample, now: Milliseconds) -> Refusal {
        guard hasSucceeded(now) else { return .doubted(isNews: isFirstSight(of: witness.key)) }
        guard state == .healthy else { return .doubted(isNews: false) }
        guard witness.isKnown else { return .proven }
        record(witness)
        let from = Set(failed.values.compactMap(\.self)).count
        guard failed.count >= threshold, from >= min(3, owners.count(now: now)) else { return .proven }
        defer { failed = [:] }
        state = .doubtful
        (nextProbe, nextForeignProbe) = (now + probeInterval, now + 10 * probeInterval)
        return .opens(Set(failed.keys))
    }

    /// Tokens of one owner are noted up to the threshold: tokens of other owners find room.
    private mutating func record(_ witness: TokenSample) {
        let others = failed.values.count { $0 == witness.owner }
        if others < threshold, failed.count < 4 * threshold { failed[witness.key] = .some(witness.owner) }
    }

    /// Whether so many different tokens were refused for the first time.
    private mutating func isFirstSight(of key: HashedKey) -> Bool {
        guard refused.count < threshold else { return false }
        refused.insert(key)
        return refused.count == threshold
    }

    /// The provider blames this server.
    public mutating func blamed(_ words: String, by witness: TokenSample, now: Milliseconds) -> Blame {
        if case .faulty = state { return .fault(isNews: fault(words, now)) }
        guard trouble.fault(of: witness.owner, owners: owners.count(now: now), now: now) else {
            return .odd(isNews: trouble.isNews(now: now))
        }
        return .fault(isNews: fault(words, now))
    }

    private mutating func fault(_ words: String, _ now: Milliseconds) -> Bool {
        let isNews = state != .faulty(words)
        state = .faulty(words)
        planProbes(now)
        return isNews
    }

    /// The provider accepts no pushes of the module until a time.
    public mutating func hold(until: Milliseconds) { heldUntil = max(heldUntil, until) }
}
