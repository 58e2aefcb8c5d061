import KalijFeatures
import KalijTransport

/// When the next connection is tried, with which password, and whether the last session is to be resumed.
struct ReconnectPolicy {
    private var backoff: Backoff
    /// Consecutive connections that ended between `<resume/>` and its answer.
    private var unansweredResumes = 0
    /// Consecutive sessions in which the server acknowledged nothing.
    private var silentSessions = 0
    /// Consecutive connections without a session that were followed by another one at once.
    private var hasty = 0
    /// A login has fewer letters; a server that changes its features each time would be connected to for ever.
    private static let mostHasty = 8
    /// Consecutive connections that ended at a stanza that could not be handled.
    private var failedStanzas = 0
    /// Whether the connection that ends now does so at a stanza, and the next is to come soon.
    private var isSoon = false
    /// Which of two passwords the next login uses.
    var choice = PasswordCandidate()
    /// Of whoever has taken the resource: what tells ours apart from now on; nil while nobody has.
    private(set) var otherResource: String?
    /// How often a session was ended for another one with its resource.
    private var conflicts = 0
    /// Whether the session has lasted long enough to trust the way to the server.
    private var isStable = false

    /// - Parameter longest: the longest delay, in seconds.
    init(longest: Double) { backoff = Backoff(base: 1, limit: longest) }

    /// Whether the session counts as lost though no server has said so: some servers close the connection instead of refusing,
    /// or resume a session whose stanzas they do not read any more.
    var givesUpSession: Bool { unansweredResumes >= 2 || silentSessions >= 3 }

    /// The session was given up.
    mutating func gaveUpSession() { (unansweredResumes, silentSessions) = (0, 0) }

    /// There is a session.
    mutating func established() {
        (unansweredResumes, hasty) = (0, 0)
        choice.accepted()
    }

    /// A letter has failed.
    /// - Returns: whether the next connection is made at once.
    mutating func letterFailed() -> Bool {
        hasty += 1
        // From here on a letter's failure counts as an unanswered <resume/>: without a session to resume, the login goes by steps.
        if hasty > Self.mostHasty { unansweredResumes += 1 }
        return hasty <= Self.mostHasty
    }

    /// The server has acknowledged something, or nothing new.
    mutating func acknowledged() { silentSessions = 0 }

    /// The connection ends because the server acknowledges nothing.
    mutating func fellSilent() { silentSessions += 1 }

    /// The session has lasted for a while.
    mutating func lasted() { isStable = true }

    /// The server has ended the stream in place of an answer to `<resume/>`. Together with the connection's end the stream's end
    /// counts twice: the session is not tried again.
    mutating func resumeCut() { unansweredResumes += 1 }

    /// The connection ends at a stanza that could not be handled. The way to the server is not to blame, and the attempts at the stanza
    /// count in its session alone: with long delays the server would forget the session before the last attempt.
    mutating func stanzaFailed() {
        failedStanzas = isStable ? 1 : failedStanzas + 1
        isSoon = failedStanzas <= Attempts.last
    }

    /// Another session has taken the place of ours: with the same resource we would take it back, for ever (RFC 6120 section 4.9.3.3). Once, that
    /// was perhaps our own: a server reads the late `<resume/>` of a process that has ended.
    /// - Parameter random: from 0 up to but not including 1.
    mutating func resourceTaken(random: Double) {
        conflicts += 1
        guard conflicts > 1 else { return }
        otherResource = String(Int(random * 1_000_000_000), radix: 36)  // fits: below 30 bits
    }

    /// The stanza was set aside.
    mutating func stanzaSetAside() { failedStanzas = 0 }

    /// A connection has ended; `isResumePending` if before the answer to `<resume/>`.
    mutating func ended(isResumePending: Bool) {
        if isResumePending { unansweredResumes += 1 }
        if isStable { backoff.reset() }
        isStable = false
    }

    /// Seconds until the next attempt.
    /// - Parameter random: from 0 up to but not including 1.
    mutating func delay(random: Double) -> Double {
        guard isSoon else { return backoff.next(random: random) }
        isSoon = false
        return 1 + random
    }

    /// The network has changed: earlier failures say nothing of the new network.
    mutating func networkChanged() {
        backoff.reset()
        hasty = 0
    }
}
