import KalijCore

/// The number of archive results in a page: as many as arrive in a few seconds, because a page delays all other stanzas.
enum PageSize {
    private static let (minSize, maxSize) = (5.0, 100.0)
    /// The longest transfer time of a page in seconds: while the user is active, and while not.
    private static let (watched, unwatched) = (2.0, 8.0)
    /// The assumed size of a result in bytes before the first is received.
    private static let assumed: Int64 = 600

    /// - Parameter bytes: the mean size of a result in bytes; nil before the first.
    static func results(over link: LinkQuality, of bytes: Int64?) -> Int {
        guard let rate = link.bytesPerSecond, rate.isFinite else { return Int(maxSize) }
        let room = rate * (link.isInactive ? unwatched : watched)
        return Int(min(maxSize, max(minSize, room / Double(max(1, bytes ?? assumed)))))
    }

    /// The running mean after a further result of `size` bytes; the last sixteen weigh most.
    static func mean(_ mean: Int64?, with size: Int) -> Int64 {
        let size = Int64(clamping: size)
        guard let mean else { return size }
        return mean + (size - mean) / 16
    }
}
