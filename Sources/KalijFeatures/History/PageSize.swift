import KalijSteps

/// How many results of an archive are asked for at once: as many as come in two seconds, because nothing else comes meanwhile.
enum PageSize {
    private static let (smallest, largest) = (5.0, 100.0)
    /// How long a page may take, in seconds.
    private static let (watched, unwatched) = (2.0, 8.0)
    /// The bytes of a result as long as none has come.
    private static let assumed: Int64 = 600

    /// - Parameter bytes: the mean bytes of a result; nil if none has come.
    static func results(over link: LinkQuality, of bytes: Int64?) -> Int {
        guard let rate = link.bytesPerSecond, rate.isFinite else { return Int(largest) }
        let room = rate * (link.isInactive ? unwatched : watched)
        return Int(min(largest, max(smallest, room / Double(max(1, bytes ?? assumed)))))
    }

    /// The mean with a result of `size` bytes more; the last sixteen weigh most.
    static func mean(_ mean: Int64?, with size: Int) -> Int64 {
        let size = Int64(clamping: size)
        guard let mean else { return size }
        return mean + (size - mean) / 16
    }
}
