/// A number of stanzas handled, modulo 2^32 (XEP-0198, 4: after 2^32-1 comes 0).
///
/// The only type that counts, compares, reads and writes these numbers.
public struct HandledCount: Hashable, Sendable, Codable {
    /// The count as written in an "h".
    public let value: UInt32

    /// A stored count.
    public init(_ value: UInt32) { self.value = value }

    /// Reads an "h" (XML Schema's unsignedInt); nil for any other text.
    public init?(attribute: String) {
        let digits = attribute.utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
        guard digits, let value = UInt32(attribute) else { return nil }
        self.value = value
    }

    /// No stanza yet.
    public static let zero = HandledCount(0)

    /// The count after `stanzas` more.
    public func advanced(by stanzas: UInt32 = 1) -> HandledCount { HandledCount(value &+ stanzas) }

    /// How many stanzas were handled between `earlier` and this count; right as long as the number is less than 2^32.
    public func distance(from earlier: HandledCount) -> UInt32 { value &- earlier.value }

    /// Reads the bare number.
    public init(from decoder: any Decoder) throws {
        value = try decoder.singleValueContainer().decode(UInt32.self)
    }

    /// Writes the bare number.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }
}

extension HandledCount: CustomStringConvertible {
    public var description: String { String(value) }
}
