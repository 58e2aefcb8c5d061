/// Writes values as canonical CBOR (RFC 8949).
struct CBORWriter {
    private(set) var bytes: [UInt8] = []

    /// The major types of section 3.1, at their place in the first byte.
    enum Major: UInt8 {
        case unsigned = 0x00
        case negative = 0x20
        case bytes = 0x40
        case text = 0x60
        case array = 0x80
        case map = 0xA0
        case simple = 0xE0
    }

    mutating func write(_ value: StoredValue) {
        switch value {
        case .null: bytes.append(0xF6)
        case .bool(let bool): bytes.append(bool ? 0xF5 : 0xF4)
        case .integer(let integer) where integer < 0: head(.negative, UInt64(bitPattern: ~integer))
        // fits: not negative, because of the case before
        case .integer(let integer): head(.unsigned, UInt64(integer))
        case .unsigned(let integer): head(.unsigned, integer)
        case .double(let double):
            bytes.append(0xFB)
            append(double.isNaN ? 0x7FF8_0000_0000_0000 : double.bitPattern, count: 8)
        case .text(let text): write(text)
        case .bytes(let blob):
            head(.bytes, UInt64(blob.count))
            bytes.append(contentsOf: blob)
        case .list(let values):
            head(.array, UInt64(values.count))
            for value in values { write(value) }
        case .map(let values):
            head(.map, UInt64(values.count))
            for (name, value) in values.sorted(by: { Self.precedes($0.key, $1.key) }) {
                write(name)
                write(value)
            }
        }
    }

    /// The order of the encoded names, byte for byte (4.2.1): shorter names precede longer ones.
    private static func precedes(_ left: String, _ right: String) -> Bool {
        let (first, second) = (left.utf8, right.utf8)
        return first.count != second.count ? first.count < second.count : first.lexicographicallyPrecedes(second)
    }

    private mutating func write(_ text: String) {
        head(.text, UInt64(text.utf8.count))
        bytes.append(contentsOf: text.utf8)
    }

    /// A number in the fewest bytes, after its major type.
    private mutating func head(_ major: Major, _ number: UInt64) {
        switch number {
        case 0...23: bytes.append(major.rawValue | UInt8(number))  // fits: at most 23
        case 24...0xFF: long(major, 24, number, count: 1)
        case 0x100...0xFFFF: long(major, 25, number, count: 2)
        case 0x1_0000...0xFFFF_FFFF: long(major, 26, number, count: 4)
        default: long(major, 27, number, count: 8)
        }
    }

    private mutating func long(_ major: Major, _ size: UInt8, _ number: UInt64, count: Int) {
        bytes.append(major.rawValue | size)
        append(number, count: count)
    }

    private mutating func append(_ number: UInt64, count: Int) {
        for position in stride(from: (count - 1) * 8, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: number >> UInt64(position)))  // fits: from 56 down to 0
        }
    }
}
