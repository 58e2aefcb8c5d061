/// When the tail is read from the archive: the messages that came live or were acknowledged since the archive was read.
struct ArchiveSyncTrigger {
    enum Action: Equatable {
        case none
        case read
        /// Read the archive after so many seconds (``quietEnded()``). Replaces the wait before.
        case wait(Double)
    }

    /// So many messages may be, before the archive is read again.
    private static let longest = (quick: 200, slow: 1000)
    /// Over a slow link the tail is a second copy that the user's messages would wait behind: it is read after so many seconds
    /// without a message.
    private static let quiet = 30.0
    private var messages = 0
    private var isWaiting = false

    /// So many messages came.
    /// - Parameters:
    ///   - waits: whether the reading after a resume was put off.
    ///   - isCaughtUp: whether the archive was read to its end.
    ///   - isSlow: whether the link is slow, and the process has time.
    mutating func grew(by number: Int, waits: Bool = false, isCaughtUp: Bool, isSlow: Bool = false) -> Action {
        if isCaughtUp { (messages, isWaiting) = (0, false) }
        messages += number
        if messages >= (isSlow ? Self.longest.slow : Self.longest.quick) || isWaiting && !isSlow {
            (messages, isWaiting) = (0, false)
            return .read
        }
        guard isSlow, number > 0 || waits else { return .none }
        isWaiting = true
        return .wait(Self.quiet)
    }

    /// The wait is over.
    /// - Returns: whether the archive is to be read.
    mutating func quietEnded() -> Bool {
        defer { (messages, isWaiting) = (0, false) }
        return isWaiting
    }
}
