#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The values with a stored form of their own; all other values encode themselves.
enum Primitives {
    /// The stored form of `value`; nil if `value` has to encode itself.
    @inline(__always)
    static func store<Value>(_ value: Value) -> StoredValue? {
        switch value {
        case let value as String: .text(value)
        case let value as Bool: .bool(value)
        case let value as Int: .integer(Int64(value))
        case let value as Double: .double(value)
        case let value as Float: .double(Double(value))
        // One by one: a cast to a protocol would search the whole program for conformances, and make the program
        // resident.
        case let value as Int64: .integer(value)
        case let value as UInt64: integer(value)
        case let value as UInt: integer(value)
        case let value as Int32: .integer(Int64(value))
        case let value as UInt32: .integer(Int64(value))
        case let value as Int16: .integer(Int64(value))
        case let value as UInt16: .integer(Int64(value))
        case let value as Int8: .integer(Int64(value))
        case let value as UInt8: .integer(Int64(value))
        case let value as Data: .bytes([UInt8](value))
        // By its type: an empty list of any type can be cast to this type.
        case let value as [UInt8] where Value.self == [UInt8].self: .bytes(value)
        case let value as UUID: .bytes(withUnsafeBytes(of: value.uuid) { [UInt8]($0) })
        default: nil
        }
    }

    private static func integer(_ value: some BinaryInteger) -> StoredValue {
        // fits: only a UInt or a UInt64 is no Int64
        Int64(exactly: value).map { .integer($0) } ?? .unsigned(UInt64(value))
    }

    /// The value of a type with a stored form of its own; nil for other types.
    /// - Throws: `DecodingError`
    static func restore<Value>(
        _ type: Value.Type, from value: StoredValue, at path: [any CodingKey]
    ) throws -> Value? {
        switch type {
        case is String.Type: if case .text(let text) = value { return text as? Value }
        case is Bool.Type: if case .bool(let bool) = value { return bool as? Value }
        case is Double.Type: if let double = double(value) { return double as? Value }
        case is Float.Type: if let double = double(value) { return Float(double) as? Value }
        case is Data.Type: if case .bytes(let bytes) = value { return Data(bytes) as? Value }
        case is [UInt8].Type: if case .bytes(let bytes) = value { return bytes as? Value }
        case is UUID.Type: if case .bytes(let bytes) = value, let uuid = uuid(bytes) { return uuid as? Value }
        case is Int.Type: if let integer: Int = integer(value) { return integer as? Value }
        case is Int64.Type: if let integer: Int64 = integer(value) { return integer as? Value }
        case is UInt64.Type: if let integer: UInt64 = integer(value) { return integer as? Value }
        case is UInt.Type: if let integer: UInt = integer(value) { return integer as? Value }
        case is Int32.Type: if let integer: Int32 = integer(value) { return integer as? Value }
        case is UInt32.Type: if let integer: UInt32 = integer(value) { return integer as? Value }
        case is Int16.Type: if let integer: Int16 = integer(value) { return integer as? Value }
        case is UInt16.Type: if let integer: UInt16 = integer(value) { return integer as? Value }
        case is Int8.Type: if let integer: Int8 = integer(value) { return integer as? Value }
        case is UInt8.Type: if let integer: UInt8 = integer(value) { return integer as? Value }
        default: return nil
        }
        let context = DecodingError.Context(codingPath: path, debugDescription: "not \(type)")
        if value == .null { throw DecodingError.valueNotFound(type, context) }
        throw DecodingError.typeMismatch(type, context)
    }

    private static func integer<Integer: FixedWidthInteger>(_ value: StoredValue) -> Integer? {
        switch value {
        case .integer(let integer): Integer(exactly: integer)
        case .unsigned(let integer): Integer(exactly: integer)
        default: nil
        }
    }

    private static func double(_ value: StoredValue) -> Double? {
        switch value {
        case .double(let double): double
        case .integer(let integer): Double(exactly: integer)
        default: nil
        }
    }

    private static func uuid(_ bytes: [UInt8]) -> UUID? {
        guard bytes.count == 16 else { return nil }
        var uuid = UUID().uuid
        withUnsafeMutableBytes(of: &uuid) { $0.copyBytes(from: bytes) }
        return UUID(uuid: uuid)
    }
}
