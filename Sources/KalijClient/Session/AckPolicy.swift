import KalijSteps
import KalijStream

/// The acknowledgements of both sides of a session (XEP-0198 section 4), and when silence ends the connection.
struct AckPolicy {
    /// Actions are performed in the order of the list.
    enum Action: Equatable {
        /// Send `<r/>`.
        case request
        /// Call ``pauseEnded()`` after so many seconds.
        case later(Double)
        /// Send white space: a sign of life without stream management.
        case whiteSpace
        /// Call ``silence(isBlocked:)`` after so many seconds. Replaces the wait before.
        case wait(Double)
        /// Wait no longer: the server has answered.
        case answered
        /// Give up the connection: nothing was acknowledged for so many seconds.
        case giveUp(Double)
    }

    /// Whether the stream is managed: otherwise nobody acknowledges anything.
    let isManaged: Bool
    /// How long an answer to `<r/>` may take while other bytes keep coming, in seconds. Over a slow link much may be in front of
    /// the answer; a server that goes on speaking and never answers is left in the end all the same.
    let longest: Double
    /// How far the queue is written.
    var writer = OutboundWriter()
    /// How many `<a/>` are to be sent.
    private(set) var owed = 0
    /// The stanzas handled by now, and those of them that the last `<a/>` has told the server of.
    private var handled: (now: HandledCount, told: HandledCount)
    /// Since when there are stanzas that the server was not told of.
    private var untoldSince: Double?
    /// Whether there is something new to ask the server about.
    private var mayRequest = true
    /// Whether a message of the user's was written since the last `<r/>`.
    private var isUrgent = false
    /// Whether the next `<r/>` waits for the end of a pause, and when the last one was sent while the link was slow.
    private var pause = (isOn: false, since: -Double.infinity)
    /// Whether anything was received since the last look.
    private var isHeard = false
    /// Whether anything was received since the answer is awaited.
    private var isHeardMeanwhile = false
    /// How many seconds the present waiting lasts, and how many were waited before.
    private var waiting = (now: 0.0, before: 0.0)

    /// - Parameters:
    ///   - longestSilence: in seconds.
    ///   - handled: the stanzas that the server knows to be handled at the beginning of the connection.
    init(isManaged: Bool, longestSilence: Double, handled: HandledCount = .zero) {
        (self.isManaged, longest) = (isManaged, 10 * longestSilence)
        self.handled = (handled, handled)
    }

    /// Something was received.
    mutating func heard() { (isHeard, isHeardMeanwhile) = (true, true) }

    // MARK: What we acknowledge

    /// So many `<r/>` came.
    mutating func requested(_ number: Int = 1) { owed += number }

    /// So many stanzas, and for so many seconds, may be handled without an `<a/>` before one is sent unasked.
    private static let longestUntold = (stanzas: UInt32(50), seconds: 10.0)

    /// The stanzas up to `count` are handled at the time `now`, in seconds. While stanzas keep coming, an `<a/>` is sent unasked:
    /// over a slow line a server's `<r/>` waits behind the server's own data (measured: ejabberd 23.01 ends the connection after
    /// 60 s without an `<a/>`). Where nothing more comes, nothing is in front of the `<r/>`.
    mutating func handled(_ count: HandledCount, at now: Double) {
        handled.now = count
        let untold = count.distance(from: handled.told)
        guard untold > 0 else { return }
        let since = untoldSince ?? now
        untoldSince = since
        guard untold >= Self.longestUntold.stanzas || now - since >= Self.longestUntold.seconds else { return }
        owed = max(1, owed)
    }

    /// The connection is let go: the handled stanzas are acknowledged unasked.
    mutating func lettingGo() { owed = max(1, owed) }

    /// So many of the owed `<a/>` are sent.
    mutating func paid(_ number: Int = .max) {
        (owed, handled.told, untoldSince) = (max(0, owed - number), handled.now, nil)
    }

    // MARK: What the server acknowledges

    /// There may be something new to write.
    mutating func queueChanged() { writer.mayHaveMore = true }

    /// Every entry that may leave is written.
    mutating func queueWritten() { writer.mayHaveMore = false }

    mutating func wrote(_ entries: [OutboundQueue.Entry]) {
        writer.wrote(entries)
        mayRequest = true
        isUrgent = isUrgent || entries.contains { $0.message != nil || $0.groupchat != nil }
    }

    /// An `<a/>` came, for so many stanzas more.
    /// - Returns: `.answered` if the `<a/>` answers our `<r/>`: a server may acknowledge unasked, too.
    mutating func acknowledged(_ newly: UInt32) -> [Action] {
        // A server that lags behind is asked again when there is something new, not at once. Stanzas written after the answered
        // request are new.
        if newly > 0 { mayRequest = true }
        return writer.acknowledged(newly) ? [.answered] : []
    }

    /// The queue is written, as far as the connection has room.
    /// - Parameters:
    ///   - patience: seconds of silence after which the connection is given up.
    ///   - isSlow: whether the link is slow: an `<r/>` and its answer take the room of a short message.
    ///   - now: the time in seconds.
    mutating func flushed(within patience: Double, isSlow: Bool = false, at now: Double = 0) -> [Action] {
        guard writer.outstanding > 0, mayRequest else { return [] }
        guard isSlow else { return request(within: patience) }
        guard !isUrgent else {
            pause.since = now
            return request(within: patience)
        }
        guard !pause.isOn else { return [] }
        // So many seconds are between two requests.
        let rest = 5 - (now - pause.since)
        guard rest > 0 else {
            pause.since = now
            return request(within: patience)
        }
        pause = (true, now + rest)
        return [.later(rest)]
    }

    /// The pause before the next `<r/>` is over.
    mutating func pauseEnded(within patience: Double) -> [Action] {
        pause.isOn = false
        return flushed(within: patience)
    }

    /// An acknowledgement is wanted within so many seconds of silence.
    mutating func request(within seconds: Double) -> [Action] {
        guard isManaged, !writer.isRequested || writer.isBehind else { return [] }
        writer.request()
        (mayRequest, isUrgent, pause.isOn) = (false, false, false)
        return [.request, wait(seconds)]
    }

    /// The network has changed: the connection has to show a sign of life within so many seconds.
    mutating func networkChanged(within seconds: Double) -> [Action] {
        guard isManaged else { return [] }
        return writer.isRequested ? [wait(seconds)] : request(within: seconds)
    }

    /// No answer came for the time of the wait. The connection is given up, unless other bytes came: over a slow line the bytes
    /// before the answer may take long. Even then the wait ends after the longest time for an answer.
    /// - Parameter isBlocked: whether the process reads nothing, not even the answer, because the database cannot be written.
    mutating func silence(isBlocked: Bool) -> [Action] {
        guard !isBlocked else { return [wait(waiting.now, after: waiting.before)] }
        let waited = waiting.before + waiting.now
        if isHeardMeanwhile, waited < longest { return [wait(waiting.now, after: waited)] }
        guard writer.isBehind else { return [.giveUp(waited)] }
        // The server did answer, but for fewer stanzas than were sent before the `<r/>`.
        writer.giveUpRequest()
        return [.answered]
    }

    /// A sign of life is due, if there was none of the server.
    mutating func keepAlive(within patience: Double) -> [Action] {
        defer { isHeard = false }
        guard !isHeard else { return [] }
        return isManaged ? request(within: patience) : [.whiteSpace]
    }

    private mutating func wait(_ seconds: Double, after before: Double = 0) -> Action {
        isHeardMeanwhile = false
        waiting = (seconds, before)
        return .wait(seconds)
    }
}
