/// Splits bytes into lines of a bounded length.
struct LineBuffer {
    enum Line: Equatable {
        /// Without the line feed.
        case bytes([UInt8])
        /// Longer than the limit; the bytes are not kept.
        case tooLong
    }

    let maxLength: Int
    /// The incomplete line; at most one byte more than the limit.
    private var begun: [UInt8] = []

    /// - Parameter longest: the maximum length of a line in bytes, without the line feed.
    init(longest: Int) { self.maxLength = longest }

    /// Appends bytes.
    /// - Returns: the lines that are complete.
    mutating func append(_ bytes: some Collection<UInt8>) -> [Line] {
        var lines: [Line] = []
        var rest = bytes[...]
        while let end = rest.firstIndex(of: 0x0A) {
            add(rest[..<end])
            lines.append(removeLine())
            rest = rest[end...].dropFirst()
        }
        add(rest)
        return lines
    }

    /// The last line, at the end of the input, where the line feed is optional.
    /// - Returns: nil if the last line is empty.
    mutating func end() -> Line? { begun.isEmpty ? nil : removeLine() }

    /// Whether the buffer holds an incomplete line.
    var isBegun: Bool { !begun.isEmpty }

    private mutating func add(_ bytes: some Collection<UInt8>) {
        begun.append(contentsOf: bytes.prefix(maxLength + 1 - begun.count))
    }

    private mutating func removeLine() -> Line {
        defer { begun.removeAll() }
        return begun.count > maxLength ? .tooLong : .bytes(begun)
    }
}
