/// A token or a domain as a keyed hash of 16 bytes; the plain value is used only for sending.
public struct HashedKey: Hashable, Sendable {
    let high: UInt64
    let low: UInt64

    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// From the first 16 bytes of a collection; missing bytes count as zero.
    public init(_ bytes: some Collection<UInt8>) {
        var words: (UInt64, UInt64) = (0, 0)
        for (index, byte) in bytes.prefix(16).enumerated() {
            // fits: between 0 and 56
            let shifted = UInt64(byte) << UInt64(56 - index % 8 * 8)
            if index < 8 { words.0 |= shifted } else { words.1 |= shifted }
        }
        self.init(high: words.0, low: words.1)
    }

    /// 16 bytes.
    public var bytes: [UInt8] {
        withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { Array($0) }
    }

    // The bytes are a keyed hash already: nobody can choose colliding keys.
    public func hash(into hasher: inout Hasher) { hasher.combine(low) }
}
