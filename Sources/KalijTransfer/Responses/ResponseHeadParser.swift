import KalijText

/// Collects the head of a response from its lines, as curl hands these over: a status line, fields, an empty line.
struct ResponseHeadParser {
    /// Of a response: more than any server needs.
    static let limit = 64 * 1024

    /// A final head, without the values that curl supplies.
    struct Head: Equatable {
        let status: Int
        let fields: [HeaderField]
        let contentLength: Int64?
    }

    private var status = 0
    private var fields: [HeaderField] = []
    private var size = 0

    /// Takes a line with its ending. Heads of 1xx are left out; their lines count for the limit, too.
    /// - Returns: the head, with the line that ends the head of a final response.
    /// - Throws: ``TransferFailure`` (`protocolError`) for a head that is too large or contradicts itself.
    mutating func parse(_ line: UnsafeRawBufferPointer) throws(TransferFailure) -> Head? {
        size += line.count
        guard size <= Self.limit else {
            throw TransferFailure(.protocolError, "the head of the response is over \(Self.limit) bytes")
        }
        var text = line[...]
        while let last = text.last, last == 0x0A || last == 0x0D { text = text.dropLast() }
        if text.isEmpty { return try finish() }
        if text.starts(with: Array("HTTP/".utf8)) {
            begin(text)
        } else if let first = text.first, first == 0x20 || first == 0x09 {
            // The obsolete continuation of a line (RFC 9112, 5.2).
            guard !fields.isEmpty else { return nil }
            fields[fields.count - 1].value += " " + Self.trimmed(text)
        } else if let colon = text.firstIndex(of: UInt8(ascii: ":")) {
            let name = String(decoding: text[..<colon], as: UTF8.self).lowercased()
            fields.append(HeaderField(name, Self.trimmed(text[text.index(after: colon)...])))
        }
        return nil
    }

    private mutating func begin(_ line: Slice<UnsafeRawBufferPointer>) {
        let words = line.split(separator: 0x20, maxSplits: 2)
        let digits = words.count > 1 ? String(decoding: words[1], as: UTF8.self) : ""
        status = digits.utf8.count == 3 ? decimal(digits).map { Int($0) } ?? 0 : 0
        fields = []
    }

    private mutating func finish() throws(TransferFailure) -> Head? {
        if (100..<200).contains(status) { return nil }
        guard status >= 200 else { throw TransferFailure(.protocolError, "the response has no status") }
        let encodings = values(of: "transfer-encoding")
        guard encodings.allSatisfy({ $0.lowercased() == "chunked" }) else {
            throw TransferFailure(.protocolError, "the response has an unknown transfer encoding")
        }
        let length = try contentLength()
        return Head(status: status, fields: fields, contentLength: encodings.isEmpty ? length : nil)
    }

    /// The same number may occur several times (RFC 9110, 8.6).
    private func contentLength() throws(TransferFailure) -> Int64? {
        let lengths = Set(
            values(of: "content-length").flatMap { $0.parts(at: ",") }
                .map { decimal(Self.trimmed($0.utf8)) })
        guard let length = lengths.first else { return nil }
        guard lengths.count == 1, let length else {
            throw TransferFailure(.protocolError, "the response's Content-Length is no number")
        }
        return length
    }

    private func values(of name: String) -> [String] { fields.filter { $0.name == name }.map(\.value) }

    private static func trimmed(_ bytes: some BidirectionalCollection<UInt8>) -> String {
        let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
        let begin = bytes.drop(while: isBlank)
        let end = begin.lastIndex { !isBlank($0) }.map { begin.index(after: $0) } ?? begin.startIndex
        return String(decoding: begin[..<end], as: UTF8.self)
    }
}
