/// A bound value in its stored form.
public enum StoredValue: Hashable, Sendable {
    /// Nothing: an optional value written as nil.
    case null
    /// A `Bool`.
    case bool(Bool)
    /// An integer of any width.
    case integer(Int64)
    /// Only numbers too large for ``integer(_:)``.
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

    /// The stored form of `value`.
    /// - Throws: `EncodingError`, or the error of `value` during encoding.
    public init<Value: Encodable>(encoding value: Value) throws {
        self = try StoredEncoder.value(of: value)
    }

    /// The decoded value.
    /// - Throws: `DecodingError`, or the error of `Value` during decoding.
    public func decoded<Value: Decodable>(as type: Value.Type = Value.self) throws -> Value {
        try StoredDecoder.decode(type, from: self, at: [])
    }

    /// The canonical bytes (CBOR, RFC 8949, in the core deterministic encoding of section 4.2.1, except that
    /// floating-point numbers always take 64 bits).
    public var canonicalBytes: [UInt8] {
        var writer = CBORWriter()
        writer.write(self)
        return writer.bytes
    }

    /// Reads the bytes of ``canonicalBytes``; nil for all other bytes.
    public init?(canonical bytes: [UInt8]) {
        var reader = CBORReader(bytes)
        guard let value = reader.value(), reader.isAtEnd else { return nil }
        self = value
    }
}
