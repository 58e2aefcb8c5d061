import KalijCore
import KalijStore

/// How far the queue has been written on the present connection.
package struct OutboundWriter {
    /// Whether it is undetermined that the server reads the session (``UnreadSession``): an `<a/>` that acknowledges nothing new
    /// then counts as evidence.
    package var isDoubtful = false
    /// The last entry written.
    package private(set) var position: Int64 = 0
    /// How many written entries the server has not acknowledged.
    package private(set) var outstanding = 0
    /// How many of the outstanding entries the response to the current `<r/>` has to acknowledge; nil if no `<r/>` is
    /// outstanding. The server handles the entries before it reads the `<r/>`, so an `<a/>` for fewer entries was sent earlier.
    private var requested: Int?
    /// Whether an `<a/>` was received that acknowledges fewer entries than the current `<r/>` covers: an earlier response, or the
    /// response of a server that lags behind.
    package private(set) var isBehind = false
    /// Whether the queue may hold entries after ``position``.
    package var mayHaveMore = true
    /// The bound on responses in the queue that the server has not accepted.
    package var answers = OwedAnswers()
    /// Whether the last entry was sent alone: nothing else is sent before its acknowledgement.
    package private(set) var isAlone = false

    package init() {}

    /// The part of `entries`, the next entries, that may be sent now: a blamed entry is sent alone.
    package func transmitting(_ entries: [OutboundQueue.Entry]) -> ArraySlice<OutboundQueue.Entry> {
        guard !isAlone else { return [] }
        guard entries.first?.isBlamed ?? false else { return entries.prefix { !$0.isBlamed } }
        return outstanding == 0 ? entries.prefix(1) : []
    }

    package mutating func wrote(_ entries: [OutboundQueue.Entry]) {
        guard let last = entries.last else { return }
        position = last.id
        outstanding += entries.count
        isAlone = last.isBlamed
    }

    /// Whether an acknowledgement was requested and not received yet.
    package var isRequested: Bool { requested != nil }

    /// An `<r/>` is sent.
    package mutating func request() { (requested, isBehind) = (outstanding, false) }

    /// An `<a/>` was received that acknowledges `number` further entries.
    /// - Returns: whether the `<a/>` responds to the `<r/>`.
    package mutating func acknowledged(_ number: UInt32) -> Bool {
        outstanding = max(0, outstanding - Int(number))
        answers.acknowledged(number)
        if outstanding == 0 { isAlone = false }
        guard let wanted = requested else { return false }
        requested = wanted > Int(number) ? wanted - Int(number) : nil
        isBehind = isRequested
        return !isRequested
    }

    /// The response to the current `<r/>` is no longer expected.
    package mutating func abandonRequest() { (requested, isBehind) = (nil, false) }
}
