/// Determines when to read the tail of the archive: the messages that were received live, or acknowledged, since the archive was
/// last read.
struct ArchiveSyncTrigger {
    enum Action: Equatable {
        case none
        case read
        /// Read the archive after the given number of seconds (``quietEnded()``). Replaces the previous timeout.
        case wait(Double)
    }

    /// The number of messages after which the archive is read again.
    private static let maxMessages = (quick: 200, slow: 1000)
    /// Over a slow link the tail is a second copy that would delay the user's messages: it is read after this many seconds
    /// without a message.
    private static let quiet = 30.0
    private var messages = 0
    /// Whether the reading waits for the end of the tail.
    private(set) var isWaiting = false

    /// `number` further messages were received or acknowledged.
    /// - Parameters:
    ///   - waits: whether the sync after a resumption was postponed.
    ///   - isCaughtUp: whether the archive was read to its end.
    ///   - isSlow: whether the link is slow, and the process has time.
    mutating func grew(by number: Int, waits: Bool = false, isCaughtUp: Bool, isSlow: Bool = false) -> Action {
        if isCaughtUp { (messages, isWaiting) = (0, false) }
        messages += number
        if messages >= (isSlow ? Self.maxMessages.slow : Self.maxMessages.quick) || isWaiting && !isSlow {
            (messages, isWaiting) = (0, false)
            return .read
        }
        guard isSlow, number > 0 || waits else { return .none }
        isWaiting = true
        return .wait(Self.quiet)
    }

    /// The timeout has expired.
    /// - Returns: whether to read the archive.
    mutating func quietEnded() -> Bool {
        defer { (messages, isWaiting) = (0, false) }
        return isWaiting
    }
}
