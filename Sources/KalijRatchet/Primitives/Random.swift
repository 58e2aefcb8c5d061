/// Random numbers of libcrypto.
public enum RandomNumber {
    /// A number from `range`, each with the same probability but for an error below 2⁻³².
    /// - Throws: `RatchetError.library`
    public static func from(_ range: ClosedRange<UInt32>) throws -> UInt32 {
        let bytes = try Randomness.system.bytes(8)
        let number = bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let count = UInt64(range.upperBound - range.lowerBound) + 1  // fits: 33 bits
        return range.lowerBound + UInt32(number % count)  // fits: in the range
    }
}

extension Secret {
    /// New random bytes.
    /// - Throws: `RatchetError.library`
    public static func random(_ count: Int) throws -> Secret { try random(count, .system) }
}
