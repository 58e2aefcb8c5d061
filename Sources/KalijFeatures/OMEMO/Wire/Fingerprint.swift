import KalijRatchet
import KalijText

/// An identity key for people: 64 hexadecimal digits of its Curve25519 form.
public struct Fingerprint: Hashable, Sendable, CustomStringConvertible {
    /// 64 hexadecimal digits.
    public let hex: String

    package init(_ key: PublicKey) {
        hex = key.bytes.map { byte in
            let digits = String(byte, radix: 16)
            return digits.count == 1 ? "0" + digits : digits
        }.joined()
    }

    /// Parses 64 hexadecimal digits, grouped or not; nil for anything else. The type prefix of a key of 0.3, `05`, is optional.
    public init?(_ text: String) {
        var digits = text.lowercased().filter { !$0.isWhitespace && $0 != ":" && $0 != "-" }
        if digits.count == 66, digits.begins(with: "05") { digits.removeFirst(2) }
        guard digits.count == 64, digits.allSatisfy({ $0.isASCII && $0.isHexDigit }) else { return nil }
        hex = digits
    }

    /// The 32 bytes.
    package var bytes: [UInt8] {
        let digits = hex.utf8.map { $0 < 0x3A ? $0 - 0x30 : $0 - 0x57 }
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }

    /// Eight groups of eight digits.
    public var description: String {
        stride(from: 0, to: 64, by: 8).map { String(hex.dropFirst($0).prefix(8)) }.joined(separator: " ")
    }
}
