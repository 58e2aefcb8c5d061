/// Cuts bytes into lines of a bounded length.
struct LineBuffer {
    enum Line: Equatable {
        /// Without the line feed.
        case bytes([UInt8])
        /// Longer than the limit; the bytes are not kept.
        case tooLong
    }

    let longest: Int
    /// The beginning of a line; at most one byte more than the limit.
    private var begun: [UInt8] = []

    /// - Parameter longest: how many bytes a line may have, without the line feed.
    init(longest: Int) { self.longest = longest }

    /// Takes more bytes.
    /// - Returns: the lines that end within.
    mutating func append(_ bytes: some Collection<UInt8>) -> [Line] {
        var lines: [Line] = []
        var rest = bytes[...]
        while let end = rest.firstIndex(of: 0x0A) {
            add(rest[..<end])
            lines.append(taken())
            rest = rest[end...].dropFirst()
        }
        add(rest)
        return lines
    }

    /// The last line, at the end of the input: such a line needs no line feed.
    /// - Returns: nil if the last line is empty.
    mutating func end() -> Line? { begun.isEmpty ? nil : taken() }

    /// Whether a line has begun that has not ended.
    var isBegun: Bool { !begun.isEmpty }

    private mutating func add(_ bytes: some Collection<UInt8>) {
        begun.append(contentsOf: bytes.prefix(longest + 1 - begun.count))
    }

    private mutating func taken() -> Line {
        defer { begun.removeAll() }
        return begun.count > longest ? .tooLong : .bytes(begun)
    }
}
