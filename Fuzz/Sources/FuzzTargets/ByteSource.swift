/// Decisions from an input's bytes, one after the other; zeros after the end.
struct ByteSource {
    private var rest: Slice<UnsafeRawBufferPointer>

    init(_ bytes: UnsafeRawBufferPointer) { rest = bytes[...] }

    var isEmpty: Bool { rest.isEmpty }

    mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

    /// A number below `count`.
    mutating func number(below count: Int) -> Int { Int(byte()) % count }

    mutating func pick<Value>(_ values: [Value]) -> Value { values[number(below: values.count)] }

    /// True once in `count` times.
    mutating func oneIn(_ count: Int) -> Bool { number(below: count) == count - 1 }

    /// A text of any characters up to a zero byte. Bytes outside UTF-8 become U+FFFD.
    mutating func text() -> String {
        let bytes = rest.prefix { $0 != 0 }
        rest = rest.dropFirst(bytes.count + 1)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The bytes up to the end of the line, without the line end.
    mutating func line() -> String {
        let bytes = rest.prefix { $0 != UInt8(ascii: "\n") }
        rest = rest.dropFirst(bytes.count + 1)
        return String(decoding: bytes, as: UTF8.self)
    }
}
