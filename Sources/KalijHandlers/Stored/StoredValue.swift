/// A bound value as it is stored.
public enum StoredValue: Hashable, Sendable {
    /// Nothing: an optional value that was written as nil.
    case null
    /// A `Bool`.
    case bool(Bool)
    /// An integer of any width.
    case integer(Int64)
    /// Only what is too large for ``integer(_:)``.
    case unsigned(UInt64)
    /// A `Double` or a `Float`.
    case double(Double)
    /// A `String`.
    case text(String)
    /// `Data`, a list of bytes, or a `UUID`.
    case bytes([UInt8])
    /// A list.
    case list([StoredValue])
    /// A value with names: a type with properties, or a dictionary.
    case map([String: StoredValue])

    /// What `value` is stored as.
    /// - Throws: `EncodingError`, or what `value` throws when it is encoded.
    public init<Value: Encodable>(encoding value: Value) throws {
        self = try StoredEncoder.value(of: value)
    }

    /// The value that is stored.
    /// - Throws: `DecodingError`, or what `Value` throws when it is decoded.
    public func decoded<Value: Decodable>(as type: Value.Type = Value.self) throws -> Value {
        try StoredDecoder.decode(type, from: self, at: [])
    }

    /// Its canonical bytes (CBOR, RFC 8949, as the core deterministic encoding of section 4.2.1 has it, but for floating-point
    /// numbers, which always take 64 bits).
    public var canonicalBytes: [UInt8] {
        var writer = CBORWriter()
        writer.write(self)
        return writer.bytes
    }

    /// Reads what ``canonicalBytes`` has written; nil if it is anything else.
    public init?(canonical bytes: [UInt8]) {
        var reader = CBORReader(bytes)
        guard let value = reader.value(), reader.isAtEnd else { return nil }
        self = value
    }
}
