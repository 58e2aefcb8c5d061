import KalijSteps

/// The acknowledgements of both sides of a session (XEP-0198 section 4), and when silence ends the connection.
struct Acknowledging {
    /// Actions are performed in the order of the list.
    enum Action: Equatable {
        /// Send `<r/>`.
        case request
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
    /// How long an answer to `<r/>` may take, in seconds.
    let longest: Double
    /// How far the queue is written.
    private(set) var writer = OutboundWriter()
    /// How many `<r/>` are to be answered.
    private(set) var owed = 0
    /// Whether there is something new to ask the server about.
    private var mayRequest = true
    /// Whether anything was received since the last look.
    private var isHeard = false
    /// Whether anything was received since the answer is awaited.
    private var isHeardMeanwhile = false
    /// How many seconds the present waiting lasts, and how many were waited before.
    private var waiting = (now: 0.0, before: 0.0)

    init(isManaged: Bool, longest: Double) { (self.isManaged, self.longest) = (isManaged, longest) }

    /// Something was received.
    mutating func heard() { (isHeard, isHeardMeanwhile) = (true, true) }

    // MARK: What we acknowledge

    /// So many `<r/>` came.
    mutating func requested(_ number: Int = 1) { owed += number }

    /// The connection is let go: the handled stanzas are acknowledged unasked.
    mutating func lettingGo() { owed = max(1, owed) }

    /// All `<r/>` are answered.
    mutating func paid() { owed = 0 }

    // MARK: What the server acknowledges

    /// There may be something new to write.
    mutating func queueChanged() { writer.mayHaveMore = true }

    /// Every entry that may leave is written.
    mutating func queueWritten() { writer.mayHaveMore = false }

    mutating func wrote(_ entries: [OutboundQueue.Entry]) {
        writer.wrote(entries)
        mayRequest = true
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
    mutating func flushed() -> [Action] { writer.outstanding > 0 && mayRequest ? request(within: longest) : [] }

    /// An acknowledgement is wanted within so many seconds of silence.
    mutating func request(within seconds: Double) -> [Action] {
        guard isManaged, !writer.isRequested || writer.isBehind else { return [] }
        writer.request()
        mayRequest = false
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
    mutating func keepAlive() -> [Action] {
        defer { isHeard = false }
        guard !isHeard else { return [] }
        return isManaged ? request(within: longest) : [.whiteSpace]
    }

    private mutating func wait(_ seconds: Double, after before: Double = 0) -> Action {
        isHeardMeanwhile = false
        waiting = (seconds, before)
        return .wait(seconds)
    }
}
