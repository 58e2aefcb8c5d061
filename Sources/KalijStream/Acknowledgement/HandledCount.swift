/// A number of stanzas handled, modulo 2^32 (XEP-0198, 4: 2^32-1 is followed by 0).
///
/// The only type that increments, compares, parses and serializes these numbers.
public struct HandledCount: Hashable, Sendable, Codable {
    /// The count as written in an "h".
    public let value: UInt32

    /// A stored count.
    public init(_ value: UInt32) { self.value = value }

    /// Parses an "h" (XML Schema's unsignedInt); nil for any other text.
    public init?(attribute: String) {
        let digits = attribute.utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
        guard digits, let value = UInt32(attribute) else { return nil }
        self.value = value
    }

    /// No stanza yet.
    public static let zero = HandledCount(0)

    /// The count after `stanzas` more.
    public func advanced(by stanzas: UInt32 = 1) -> HandledCount { HandledCount(value &+ stanzas) }

    /// The number of stanzas handled between `earlier` and this count; correct as long as it is less than 2^32.
    public func distance(from earlier: HandledCount) -> UInt32 { value &- earlier.value }

    /// Decodes the bare number.
    public init(from decoder: any Decoder) throws {
        value = try decoder.singleValueContainer().decode(UInt32.self)
    }

    /// Encodes the bare number.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }
}

extension HandledCount: CustomStringConvertible {
    public var description: String { String(value) }
}
