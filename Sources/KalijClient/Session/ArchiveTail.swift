/// The number of messages that came live or were acknowledged since the archive was read.
struct ArchiveTail {
    /// So many may be, before the archive is read again.
    private static let longest = 200
    private var messages = 0

    /// So many messages came; `isCaughtUp` if the archive was read to its end.
    /// - Returns: whether the archive is to be read.
    mutating func grew(by number: Int, isCaughtUp: Bool) -> Bool {
        if isCaughtUp { messages = 0 }
        messages += number
        guard messages >= Self.longest else { return false }
        messages = 0
        return true
    }
}
