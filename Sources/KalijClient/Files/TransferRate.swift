/// How fast bytes leave or come, in bytes per second: measured over the last seconds of transfers.
struct TransferRate {
    private(set) var value: Double?
    private var since: Double?
    private var count: Int64 = 0

    /// So many bytes more have been moved at the time `now`, in seconds.
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

    /// Nothing was moved for a while, for reasons of ours.
    mutating func interrupted() { since = nil }

    /// What the system may hold for sending: half a second of the rate, so that a text does not wait for long.
    var sendBuffer: Int {
        Int(min(max((value ?? 0) / 2, Self.smallest), 4_194_304))  // fits: at most 4 MiB
    }

    private static let smallest = 16_384.0
    /// 128 kbit/s, in bytes per second.
    static let slow = 16_000.0

    var isSlow: Bool { value.map { $0 < Self.slow } ?? false }
}
