/// Looks for the end of a start tag in many chunks, each byte once.
///
/// A tag over the stanza limit on its own would cost its length several times over. So only names and the beginnings of
/// values stay. The rest of a value is left out: another parser reads the rest, a piece at a time, each piece as the
/// value of a small document, and finds the errors.
struct OversizedTag {
    /// libxml2 compares each attribute of an element with each other.
    static let maxAttributes = 65_536
    /// How much of a value stays.
    private static let valueBytes = 8_192
    /// How many bytes of such a tag may stay beyond the stanza limit.
    private static let maxBytes = 1 << 20
    /// How much of a value is read at once.
    private static let pieceBytes = 16_384

    /// How many bytes of the tag were left out.
    private(set) var leftOut = 0
    private let keeping: Int
    private let line: Int
    private var count: Int
    private var quote: UInt8?
    private var attributes = 0
    /// Where the open value began in the kept bytes.
    private var valueStart = 0
    /// The rest of the open value is left out.
    private var isCut = false
    /// The part of the open value that is to be left out, once it has been read.
    private var value: [UInt8] = []

    /// A tag with the beginning `begun`, already in libxml2; nil if the tag ends there. The first `keeping` bytes stay.
    init?(after begun: UnsafeRawBufferPointer, keeping: Int, line: Int) {
        (self.keeping, self.line, count) = (max(keeping, begun.count + OversizedTag.pieceBytes), line, begun.count)
        for byte in begun where isEnd(byte) { return nil }
    }

    /// Whether the tag ends with this byte: a ">" outside quotes.
    private mutating func isEnd(_ byte: UInt8) -> Bool {
        if let open = quote {
            if byte == open { quote = nil }
        } else if byte == UInt8(ascii: "'") || byte == UInt8(ascii: "\"") {
            quote = byte
            attributes += 1
        } else if byte == UInt8(ascii: ">") {
            return true
        }
        return false
    }

    /// Appends the kept part of `bytes` to `kept`. Returns where the tag ended, nil if the tag continues.
    ///
    /// - Throws: If a value is not well-formed, or the tag holds too many attributes or too long names.
    mutating func consume(_ bytes: UnsafeRawBufferPointer, into kept: inout [UInt8]) throws(XMLError) -> Int? {
        for (place, byte) in bytes.enumerated() {
            let (open, isLast) = (quote, isEnd(byte))
            count += 1
            if let open, quote != nil {
                if !isCut, count > keeping, kept.count - valueStart >= OversizedTag.valueBytes {
                    // Bytes after the last possible cut are left out with the rest.
                    let end = valueStart + OversizedTag.cut(kept[valueStart...])
                    value.append(contentsOf: kept[end...])
                    kept.removeSubrange(end...)
                    isCut = true
                }
                if isCut {
                    value.append(byte)
                    if value.count >= OversizedTag.pieceBytes { try leaveOut(quote: open, isWhole: false) }
                    continue
                }
            } else if let open {
                if !value.isEmpty { try leaveOut(quote: open, isWhole: true) }
                isCut = false
            }
            kept.append(byte)
            if quote != nil, open == nil { valueStart = kept.count }
            if isLast {
                try checkAttributes()
                return place + 1
            }
        }
        try checkAttributes()
        if kept.count > keeping + OversizedTag.maxBytes {
            throw violation("a start tag with too many or too long names")
        }
        return nil
    }

    private func checkAttributes() throws(XMLError) {
        guard attributes > OversizedTag.maxAttributes else { return }
        throw violation("a start tag with more than \(OversizedTag.maxAttributes) attributes")
    }

    /// Reads the value so far, up to the last possible cut, and drops these bytes.
    private mutating func leaveOut(quote: UInt8, isWhole: Bool) throws(XMLError) {
        let length = isWhole ? value.count : OversizedTag.cut(value[...])
        guard length > 0 else { throw notWellFormed("a reference without an end") }
        var document = Array("<a b=".utf8)
        document.append(quote)
        document.append(contentsOf: value[..<length])
        document.append(quote)
        document.append(contentsOf: "/>".utf8)
        do {
            _ = try Element.parse(document)
        } catch let error as XMLError {
            throw XMLError(condition: error.condition, text: error.text, line: line, column: 1)
        } catch {
            throw notWellFormed("\(error)")
        }
        leftOut += length
        value.removeFirst(length)
    }

    /// Where a value can be cut: not inside a character, and not inside a reference.
    private static func cut(_ value: ArraySlice<UInt8>) -> Int {
        var end = value.endIndex
        let tail = value.suffix(4)  // characters: bytes.
        if let lead = tail.lastIndex(where: { $0 & 0xC0 != 0x80 }), value[lead] >= 0xC0 { end = lead }
        if let start = value[..<end].lastIndex(of: UInt8(ascii: "&")), !value[start..<end].contains(UInt8(ascii: ";")) {
            end = start
        }
        return end - value.startIndex
    }

    private func violation(_ text: String) -> XMLError {
        XMLError(condition: "policy-violation", text: text, line: line, column: 1)
    }

    private func notWellFormed(_ text: String) -> XMLError {
        XMLError(condition: "not-well-formed", text: text, line: line, column: 1)
    }
}
