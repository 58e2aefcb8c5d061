import KalijSteps
import KalijFeatures
import KalijStore

/// How far the queue has been written on the present connection.
struct OutboundWriter {
    /// Whether the server has to show that it reads the session (``UnreadSession``): then an `<a/>` for nothing new is news.
    var isDoubtful = false
    /// The last entry written.
    private(set) var position: Int64 = 0
    /// How many written entries the server has not acknowledged.
    private(set) var outstanding = 0
    /// How many of the outstanding entries the answer to the present `<r/>` has to acknowledge; nil if no `<r/>` was sent. The
    /// server handles the entries before reading the `<r/>`, so an `<a/>` for fewer entries was on its way already.
    private var requested: Int?
    /// Whether an `<a/>` came that acknowledges fewer entries than the present `<r/>` asks for: an earlier answer, or the answer
    /// of a server that lags behind.
    private(set) var isBehind = false
    /// Whether the queue may hold entries after ``position``.
    var mayHaveMore = true
    /// The answers in the queue that the server has not taken.
    var answers = OwedAnswers()
    /// Whether the last entry written left alone: nothing else leaves before its acknowledgement.
    private(set) var isAlone = false

    /// The part of `entries`, the next entries, that may leave now: a blamed entry leaves alone.
    func transmitting(_ entries: [OutboundQueue.Entry]) -> ArraySlice<OutboundQueue.Entry> {
        guard !isAlone else { return [] }
        guard entries.first?.isBlamed ?? false else { return entries.prefix { !$0.isBlamed } }
        return outstanding == 0 ? entries.prefix(1) : []
    }

    mutating func wrote(_ entries: [OutboundQueue.Entry]) {
        guard let last = entries.last else { return }
        position = last.id
        outstanding += entries.count
        isAlone = last.isBlamed
    }

    /// Whether an acknowledgement was requested and has not come.
    var isRequested: Bool { requested != nil }

    /// An `<r/>` is sent.
    mutating func request() { (requested, isBehind) = (outstanding, false) }

    /// An `<a/>` has come, for so many entries more.
    /// - Returns: whether the `<a/>` answers the `<r/>`.
    mutating func acknowledged(_ number: UInt32) -> Bool {
        outstanding = max(0, outstanding - Int(number))
        answers.acknowledged(number)
        if outstanding == 0 { isAlone = false }
        guard let wanted = requested else { return false }
        requested = wanted > Int(number) ? wanted - Int(number) : nil
        isBehind = isRequested
        return !isRequested
    }

    /// Nothing better is expected any more.
    mutating func giveUpRequest() { (requested, isBehind) = (nil, false) }
}
