/// The rate of transfers in bytes per second, measured over their last seconds.
struct TransferRate {
    private(set) var value: Double?
    private var since: Double?
    private var count: Int64 = 0

    /// `bytes` further bytes were transferred at the time `now`, in seconds.
    mutating func moved(_ bytes: Int64, now: Double) {
        guard bytes > 0 else { return }
        guard let begin = since else {
            (since, count) = (now, 0)
            return
        }
        count += bytes
        let seconds = now - begin
        guard seconds >= 0.2 else { return }
        let latest = Double(count) / seconds
        value = value.map { $0 * 0.5 + latest * 0.5 } ?? latest
        (since, count) = (now, 0)
    }

    /// Transfers were idle for a local reason, which the measurement excludes.
    mutating func interrupted() { since = nil }

    /// The size of the socket's send buffer: half a second at the current rate, so that a stanza is not delayed for long.
    var sendBuffer: Int {
        Int(min(max((value ?? 0) / 2, Self.minRate), 4_194_304))  // fits: at most 4 MiB
    }

    private static let minRate = 16_384.0
    /// 128 kbit/s, in bytes per second.
    static let slow = 16_000.0

    var isSlow: Bool { value.map { $0 < Self.slow } ?? false }
}
