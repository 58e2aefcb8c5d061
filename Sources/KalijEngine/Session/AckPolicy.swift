import KalijCore
import KalijStream

/// The acknowledgements in both directions of a session (XEP-0198 section 4), and the silence that ends the connection.
package struct AckPolicy {
    /// Actions are performed in the order of the list.
    package enum Action: Equatable {
        /// Send `<r/>`.
        case request
        /// Call ``pauseEnded()`` after the given number of seconds.
        case later(Double)
        /// Send white space: a keepalive without stream management.
        case whiteSpace
        /// Call ``silence(isBlocked:)`` after the given number of seconds. Replaces the previous timeout.
        case wait(Double)
        /// Cancel the timeout: the server has responded.
        case answered
        /// Close the connection: nothing was acknowledged for the given number of seconds.
        case close(Double)
    }

    /// Whether the stream is managed; without stream management nothing is acknowledged.
    package let isManaged: Bool
    /// How long the response to `<r/>` may take while other bytes arrive, in seconds. Over a slow link much data may precede the
    /// response; the limit applies to a server that continues to send and never responds.
    package let maxResponseTime: Double
    /// How far the queue was written.
    package var writer = OutboundWriter()
    /// How many `<a/>` are outstanding.
    package private(set) var outstandingAcks = 0
    /// The count of stanzas handled so far, and the count in the last `<a/>`.
    private var handled: (now: HandledCount, told: HandledCount)
    /// Since when there are handled stanzas that no `<a/>` has acknowledged.
    private var unacknowledgedSince: Double?
    /// Whether something was written that no `<r/>` covers yet.
    private var mayRequest = true
    /// Whether a message of the user was written since the last `<r/>`.
    private var isUrgent = false
    /// Whether the next `<r/>` is postponed to the end of a pause, and when the last one was sent over a slow link.
    private var pause = (isOn: false, since: -Double.infinity)
    /// Whether anything was received since the last keepalive check, and since the response is awaited.
    private var arrivals = (lately: false, meanwhile: false)
    /// Whether nothing was received since this was set.
    package var isPaused = false
    /// The length of the current timeout in seconds, and how many seconds were waited before it.
    private var waiting = (now: 0.0, before: 0.0)

    /// - Parameters:
    ///   - longestSilence: the silence after which the connection is closed, in seconds.
    ///   - handled: the count that was acknowledged to the server before the connection started.
    package init(isManaged: Bool, longestSilence: Double, handled: HandledCount = .zero) {
        (self.isManaged, maxResponseTime) = (isManaged, 10 * longestSilence)
        self.handled = (handled, handled)
    }

    /// Something was received.
    package mutating func received() { (arrivals, isPaused) = ((true, true), false) }

    // MARK: Outbound acknowledgements

    /// `number` further `<r/>` were received.
    package mutating func requested(_ number: Int = 1) { outstandingAcks += number }

    /// The maximum number of handled stanzas, and the maximum time, before an `<a/>` is sent unrequested.
    private static let maxUnacknowledged = (stanzas: UInt32(50), seconds: 10.0)

    /// The stanzas up to `count` are handled at the time `now`, in seconds. While stanzas arrive, an `<a/>` is sent unrequested:
    /// over a slow link a server's `<r/>` is queued behind the server's own data (measured: ejabberd 23.01 ends the connection
    /// after 60 s without an `<a/>`). If no further stanzas arrive, nothing delays the `<r/>`.
    package mutating func handled(_ count: HandledCount, at now: Double) {
        handled.now = count
        let untold = count.distance(from: handled.told)
        guard untold > 0 else { return }
        let since = unacknowledgedSince ?? now
        unacknowledgedSince = since
        guard untold >= Self.maxUnacknowledged.stanzas || now - since >= Self.maxUnacknowledged.seconds else { return }
        outstandingAcks = max(1, outstandingAcks)
    }

    /// The connection is being closed: the handled stanzas are acknowledged unrequested.
    package mutating func shuttingDown() { outstandingAcks = max(1, outstandingAcks) }

    /// `number` of the outstanding `<a/>` were sent.
    package mutating func paid(_ number: Int = .max) {
        (outstandingAcks, handled.told, unacknowledgedSince) = (max(0, outstandingAcks - number), handled.now, nil)
    }

    // MARK: Inbound acknowledgements

    /// There may be something new to write.
    package mutating func queueChanged() { writer.mayHaveMore = true }

    /// Every entry that may be sent was written.
    package mutating func queueWritten() { writer.mayHaveMore = false }

    package mutating func wrote(_ entries: [OutboundQueue.Entry]) {
        writer.wrote(entries)
        mayRequest = true
        isUrgent = isUrgent || entries.contains { $0.message != nil || $0.groupchat != nil }
    }

    /// An `<a/>` was received that acknowledges `newly` further stanzas.
    /// - Returns: `.answered` if the `<a/>` responds to the `<r/>`: a server may acknowledge unrequested, too.
    package mutating func acknowledged(_ newly: UInt32) -> [Action] {
        // A server that lags behind receives another request when there is something new, not at once. Stanzas written after the
        // answered request are new.
        if newly > 0 { mayRequest = true }
        return writer.acknowledged(newly) ? [.answered] : []
    }

    /// The queue was written, as far as the connection has room.
    /// - Parameters:
    ///   - patience: seconds of silence after which the connection is closed.
    ///   - isSlow: whether the link is slow: an `<r/>` and its response take as many bytes as a short message.
    ///   - now: the time in seconds.
    package mutating func flushed(within patience: Double, isSlow: Bool = false, at now: Double = 0) -> [Action] {
        guard writer.outstanding > 0, mayRequest else { return [] }
        guard isSlow else { return request(within: patience) }
        guard !isUrgent else {
            pause.since = now
            return request(within: patience)
        }
        guard !pause.isOn else { return [] }
        // The remainder of the minimum interval between two requests, in seconds.
        let rest = 5 - (now - pause.since)
        guard rest > 0 else {
            pause.since = now
            return request(within: patience)
        }
        pause = (true, now + rest)
        return [.later(rest)]
    }

    /// The pause before the next `<r/>` is over.
    package mutating func pauseEnded(within patience: Double) -> [Action] {
        pause.isOn = false
        return flushed(within: patience)
    }

    /// Requests an acknowledgement, due within the given number of seconds of silence.
    package mutating func request(within seconds: Double) -> [Action] {
        guard isManaged, !writer.isRequested || writer.isBehind else { return [] }
        writer.request()
        (mayRequest, isUrgent, pause.isOn) = (false, false, false)
        return [.request, wait(seconds)]
    }

    /// The network has changed: the server has to respond within the given number of seconds.
    package mutating func networkChanged(within seconds: Double) -> [Action] {
        guard isManaged else { return [] }
        return writer.isRequested ? [wait(seconds)] : request(within: seconds)
    }

    /// No response was received within the timeout. The connection is closed unless other bytes were received: over a slow link
    /// the bytes before the response may take long. Even then the wait ends after the longest time for a response.
    /// - Parameter isBlocked: whether the process does not read, because the database cannot be written.
    package mutating func silence(isBlocked: Bool) -> [Action] {
        guard !isBlocked else { return [wait(waiting.now, after: waiting.before)] }
        let waited = waiting.before + waiting.now
        if arrivals.meanwhile, waited < maxResponseTime { return [wait(waiting.now, after: waited)] }
        guard writer.isBehind else { return [.close(waited)] }
        // The server did respond, but for fewer stanzas than were sent before the `<r/>`.
        writer.abandonRequest()
        return [.answered]
    }

    /// A keepalive is due, unless something was received from the server.
    package mutating func keepAlive(within patience: Double) -> [Action] {
        defer { arrivals.lately = false }
        guard !arrivals.lately else { return [] }
        return isManaged ? request(within: patience) : [.whiteSpace]
    }

    private mutating func wait(_ seconds: Double, after before: Double = 0) -> Action {
        arrivals.meanwhile = false
        waiting = (seconds, before)
        return .wait(seconds)
    }
}
