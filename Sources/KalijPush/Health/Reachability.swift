/// Whether a provider answers at all.
struct Reachability: Sendable {
    private struct Silence: Sendable {
        var since: Milliseconds
        var count = 0
        var reason = ""
        var isReported = false
    }

    private var silence: Silence?

    /// How many attempts in a row have to fail, and over how long, before the provider counts as unreachable.
    private static let silent = (count: 3, time: Milliseconds(10_000))

    /// Why the provider counts as unreachable; nil while it answers.
    var problem: String? { silence.flatMap { $0.isReported ? $0.reason : nil } }

    /// The provider has answered, in whatever way.
    /// - Returns: whether the provider was unreachable before.
    mutating func answered() -> Bool {
        defer { silence = nil }
        return problem != nil
    }

    /// An attempt has failed: no connection, no answer, or the answer "not now".
    /// - Returns: whether the provider counts as unreachable from now on.
    mutating func attemptFailed(_ words: String, now: Milliseconds) -> Bool {
        var silence = silence ?? Silence(since: now)
        defer { self.silence = silence }
        silence.reason = words
        silence.count = min(silence.count + 1, Self.silent.count)
        guard !silence.isReported, silence.count == Self.silent.count, now - silence.since >= Self.silent.time else {
            return false
        }
        silence.isReported = true
        return true
    }
}
