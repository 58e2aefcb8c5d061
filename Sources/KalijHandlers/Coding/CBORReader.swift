/// Reads the output of ``CBORWriter``; nil for all other bytes.
struct CBORReader {
    private let bytes: [UInt8]
    private var position = 0
    private var depth = 0

    /// The limit for values within values; bound values are nowhere near as deep.
    private static let maxDepth = 64

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { position == bytes.count }

    mutating func value() -> StoredValue? {
        guard position < bytes.count, depth < Self.maxDepth else { return nil }
        let first = bytes[position]
        position += 1
        guard let major = CBORWriter.Major(rawValue: first & 0xE0) else { return nil }
        if major == .simple { return simple(first) }
        guard let number = number(first & 0x1F) else { return nil }
        switch major {
        case .unsigned: return Int64(exactly: number).map { .integer($0) } ?? .unsigned(number)
        case .negative: return Int64(exactly: number).map { .integer(~$0) }
        case .bytes: return slice(number).map { .bytes(Array($0)) }
        case .text: return text(number).map { .text($0) }
        case .array: return list(number)
        case .map: return map(number)
        case .simple: return nil
        }
    }

    private mutating func simple(_ first: UInt8) -> StoredValue? {
        switch first {
        case 0xF4: .bool(false)
        case 0xF5: .bool(true)
        case 0xF6: .null
        case 0xFB: big(8).map { .double(Double(bitPattern: $0)) }
        default: nil
        }
    }

    /// The number at the place given by `size`, the low bits of the first byte.
    private mutating func number(_ size: UInt8) -> UInt64? {
        switch size {
        case 0...23: UInt64(size)
        case 24: big(1)
        case 25: big(2)
        case 26: big(4)
        case 27: big(8)
        default: nil
        }
    }

    private mutating func big(_ count: UInt64) -> UInt64? {
        slice(count).map { $0.reduce(0) { $0 << 8 | UInt64($1) } }
    }

    private mutating func slice(_ count: UInt64) -> ArraySlice<UInt8>? {
        guard let count = Int(exactly: count), count <= bytes.count - position else { return nil }
        defer { position += count }
        return bytes[position..<position + count]
    }

    private mutating func text(_ count: UInt64) -> String? {
        slice(count).flatMap { String(validating: $0, as: UTF8.self) }
    }

    private mutating func list(_ count: UInt64) -> StoredValue? {
        depth += 1
        defer { depth -= 1 }
        var values: [StoredValue] = []
        // Each element takes at least a byte, so a false count ends soon.
        for _ in 0..<min(count, UInt64(bytes.count) + 1) {
            guard let value = value() else { return nil }
            values.append(value)
        }
        return .list(values)
    }

    private mutating func map(_ count: UInt64) -> StoredValue? {
        depth += 1
        defer { depth -= 1 }
        var values: [String: StoredValue] = [:]
        for _ in 0..<min(count, UInt64(bytes.count) + 1) {
            guard case .text(let name) = value(), let value = value(), values.updateValue(value, forKey: name) == nil
            else { return nil }
        }
        return .map(values)
    }
}
