import KalijCore
import KalijTransport

/// Determines when the next connection is attempted, with which password, and whether the last session is to be resumed.
package struct ReconnectPolicy {
    private var backoff: Backoff
    /// Consecutive connections that ended between `<resume/>` and its response.
    private var unansweredResumes = 0
    /// Consecutive sessions in which the server acknowledged nothing.
    private var silentSessions = 0
    /// Consecutive connections without a session that were followed by an immediate reconnection.
    private var hasty = 0
    /// A login has fewer pipelined elements; without the limit, a server that changes its features each time would cause endless
    /// reconnections.
    private static let maxHasty = 8
    /// Consecutive connections that ended because a stanza could not be handled.
    private var failedStanzas = 0
    /// Whether the current connection ends because of a stanza, and the next one is due soon.
    private var isSoon = false
    /// Which of two passwords the next login uses.
    package var choice = PasswordCandidate()
    /// A suffix for this client's resource and tag, while another client uses the same resource; nil without a conflict.
    package private(set) var otherResource: String?
    /// How often a session was ended by another one with its resource.
    private var conflicts = 0
    /// Whether the session has lasted long enough to trust the path to the server.
    private var isStable = false

    /// - Parameter longest: the longest delay, in seconds.
    package init(longest: Double) { backoff = Backoff(base: 1, limit: longest) }

    /// Whether the session counts as lost although the server has not reported that: some servers close the connection instead of
    /// refusing, or resume a session whose stanzas they no longer read.
    package var abandonsSession: Bool { unansweredResumes >= 2 || silentSessions >= 3 }

    /// The session was discarded.
    package mutating func sessionAbandoned() { (unansweredResumes, silentSessions) = (0, 0) }

    /// A session was established.
    package mutating func established() {
        (unansweredResumes, hasty) = (0, 0)
        choice.accepted()
    }

    /// A pipelined element has failed.
    /// - Returns: whether to make the next connection at once.
    package mutating func letterFailed() -> Bool {
        hasty += 1
        // Beyond the limit the failure counts as an unanswered `<resume/>`: without a session to resume, the login negotiates
        // step by step.
        if hasty > Self.maxHasty { unansweredResumes += 1 }
        return hasty <= Self.maxHasty
    }

    /// The server has responded with an acknowledgement, possibly of nothing new.
    package mutating func acknowledged() { silentSessions = 0 }

    /// The connection ends because the server acknowledges nothing.
    package mutating func fellSilent() { silentSessions += 1 }

    /// The session has lasted for a while.
    package mutating func lasted() { isStable = true }

    /// The server has ended the stream in place of a response to `<resume/>`. The end of the connection counts as well, so that
    /// the session is not resumed again.
    package mutating func resumeCut() { unansweredResumes += 1 }

    /// The connection ends because a stanza could not be handled. The path to the server is not the cause, and the attempts at
    /// the stanza are counted in its session only: with long delays the session would expire before the last attempt.
    package mutating func stanzaFailed() {
        failedStanzas = isStable ? 1 : failedStanzas + 1
        isSoon = failedStanzas <= Attempts.last
    }

    /// Another session has replaced this one: with the same resource this client would replace it in turn, for ever (RFC 6120
    /// section 4.9.3.3). The first time, the other session may have been this client's own: a server processes the late
    /// `<resume/>` of a process that has ended.
    /// - Parameter random: from 0 up to but not including 1.
    package mutating func sessionReplaced(random: Double) {
        conflicts += 1
        guard conflicts > 1 else { return }
        otherResource = String(Int(random * 1_000_000_000), radix: 36)  // fits: below 30 bits
    }

    /// The stanza was set aside.
    package mutating func stanzaSetAside() { failedStanzas = 0 }

    /// A connection has ended; `isResumePending` if before the response to `<resume/>`.
    package mutating func ended(isResumePending: Bool) {
        if isResumePending { unansweredResumes += 1 }
        if isStable { backoff.reset() }
        isStable = false
    }

    /// Seconds until the next attempt.
    /// - Parameter random: from 0 up to but not including 1.
    package mutating func delay(random: Double) -> Double {
        guard isSoon else { return backoff.next(random: random) }
        isSoon = false
        return 1 + random
    }

    /// The network has changed: earlier failures give no evidence about the new network.
    package mutating func networkChanged() {
        backoff.reset()
        hasty = 0
    }
}
