/// Protocol Buffers, as far as the messages use them: numbers as varints, and bytes.
enum Protobuf {
    /// The fields of a message; each defined field at most once.
    struct Fields {
        private var numbers: [UInt64: UInt64] = [:]
        private var bytes: [UInt64: ArraySlice<UInt8>] = [:]

        /// - Throws: `RatchetError.malformed`
        init(_ message: ArraySlice<UInt8>) throws {
            var rest = message
            while !rest.isEmpty {
                let key = try Protobuf.varint(&rest)
                let field = key >> 3
                guard field > 0, numbers[field] == nil, bytes[field] == nil, numbers.count + bytes.count < 32 else {
                    throw RatchetError.malformed("a field")
                }
                switch key & 7 {
                case 0: numbers[field] = try Protobuf.varint(&rest)
                case 2:
                    let count = try Protobuf.varint(&rest)
                    guard count <= rest.count else { throw RatchetError.malformed("the length of a field") }
                    bytes[field] = rest.prefix(Int(count))  // fits: at most the rest
                    rest = rest.dropFirst(Int(count))
                case 1: try Protobuf.skip(8, &rest)
                case 5: try Protobuf.skip(4, &rest)
                default: throw RatchetError.malformed("the type of a field")
                }
            }
        }

        /// - Throws: `RatchetError.malformed` if the field is missing.
        func bytes(_ field: UInt64) throws -> ArraySlice<UInt8> {
            guard let found = bytes[field] else { throw RatchetError.malformed("field \(field) is missing") }
            return found
        }

        func has(_ field: UInt64) -> Bool { numbers[field] != nil || bytes[field] != nil }

        /// A number below 2³¹; nil if missing.
        /// - Throws: `RatchetError.malformed`
        func number(_ field: UInt64) throws -> UInt32? {
            guard bytes[field] == nil else { throw RatchetError.malformed("field \(field) is no number") }
            guard let number = numbers[field] else { return nil }
            guard let number = UInt32(exactly: number), number <= RatchetLimits.largestNumber else {
                throw RatchetError.malformed("field \(field) is too large")
            }
            return number
        }

        func required(_ field: UInt64) throws -> UInt32 {
            guard let number = try number(field) else { throw RatchetError.malformed("field \(field) is missing") }
            return number
        }
    }

    private static func varint(_ rest: inout ArraySlice<UInt8>) throws -> UInt64 {
        var (number, shift): (UInt64, UInt64) = (0, 0)
        while let byte = rest.popFirst() {
            guard shift < 63 || byte <= 1 else { break }
            number |= UInt64(byte & 0x7f) << shift  // fits: a byte
            if byte & 0x80 == 0 { return number }
            shift += 7
            guard shift <= 63 else { break }
        }
        throw RatchetError.malformed("a number")
    }

    private static func skip(_ count: Int, _ rest: inout ArraySlice<UInt8>) throws {
        guard rest.count >= count else { throw RatchetError.malformed("a field is cut off") }
        rest = rest.dropFirst(count)
    }

    // MARK: Writing

    static func number(_ field: UInt64, _ value: UInt32) -> [UInt8] {
        varint(field << 3) + varint(UInt64(value))  // fits: a wider number
    }

    static func bytes(_ field: UInt64, _ value: some Collection<UInt8>) -> [UInt8] {
        varint(field << 3 | 2) + varint(UInt64(value.count)) + value
    }

    static func varint(_ number: UInt64) -> [UInt8] {
        var (rest, bytes): (UInt64, [UInt8]) = (number, [])
        while rest > 0x7f {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        return bytes + [UInt8(truncatingIfNeeded: rest)]
    }
}
