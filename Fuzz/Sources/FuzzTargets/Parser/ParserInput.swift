import KalijXML

/// The parser's input. The first byte gives the meaning of the rest:
///
/// - `S`, `s`: a whole stream; small letters mean small limits, here and below
/// - `N`, `n`: the inside of a stream; a header is put before
/// - `D`, `d`: a document, also read as a stream
/// - `R`, `r`: like `N`, after so many names that the parser begins afresh
/// - `H`, `h`: like `n`, with an equally small hard limit
/// - `X`, `x`: as `N`, and a few control characters stand for long runs of something, see ``runs``
///
/// Any other byte means one of these, by its value.
struct ParserInput {
    var bytes: [UInt8]
    var before: [UInt8] = []
    var limits = ParserLimits()
    var isDocument = false
    /// Whether control characters stand for long runs.
    var isExpanded = false
    /// For the places where the input is cut.
    var seed: UInt64 = 0xcbf2_9ce4_8422_2325

    init(_ input: UnsafeRawBufferPointer) {
        let letters = Array("SsNnDdHhRrXx".utf8)
        let first = input.first ?? 0
        let mode = letters.contains(first) ? first : letters[Int(first) % 8]
        bytes = Array(input.dropFirst())
        for byte in bytes { seed = (seed ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
        if mode & 0x20 != 0 { limits = ParserInput.smallLimits }
        switch mode & ~0x20 {
        case UInt8(ascii: "N"): before = ParserInput.header
        case UInt8(ascii: "D"): isDocument = true
        case UInt8(ascii: "H"):
            before = ParserInput.header
            limits = ParserInput.smallLimits
            limits.hardStanzaBytes = 1_024
        case UInt8(ascii: "R"):
            before = ParserInput.manyNames
            limits.nameBytes = max(limits.nameBytes, 4_096)
            limits.stanzaBytes = max(limits.stanzaBytes, 8_192)
        case UInt8(ascii: "X"):
            before = ParserInput.header
            isExpanded = true
            bytes = ParserInput.expanded(bytes)
        default: break
        }
    }

    static let smallLimits = ParserLimits(
        stanzaBytes: 300, depth: 6, attributes: 5, children: 8, elements: 20, nameBytes: 24,
        valueBytes: 64, prefixBytes: 40)

    /// For written elements: attributes in namespaces need declarations that may stand further out in the input.
    static let wideLimits = ParserLimits(
        stanzaBytes: 8 << 20, depth: 65_536, attributes: 65_536, children: .max, elements: .max, nameBytes: 1 << 20,
        valueBytes: 8 << 20)

    static let header = Array(
        """
        <?xml version='1.0'?><stream:stream xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams' \
        xmlns:p='urn:p' id='1' version='1.0' xml:lang='en'>
        """.utf8)

    /// A header and stanzas with almost as many names as the parser lets its context keep.
    private static let manyNames: [UInt8] = {
        var bytes = header
        for number in 0..<66 {
            let name = String(repeating: "n", count: 3_900) + "\(number)"
            bytes += Array("<\(name)/>".utf8)
        }
        return bytes
    }()

    /// The meanings of control characters, all of them forbidden in XML.
    private static let runs: [UInt8: [UInt8]] = [
        1: Array(repeating: UInt8(ascii: "x"), count: 20_000),
        2: Array((0..<300).map { " a\($0)='\($0)'" }.joined().utf8),
        3: Array(String(repeating: "<a>", count: 150).utf8),
        4: Array(String(repeating: "</a>", count: 150).utf8),
        5: Array(String(repeating: "<c/>", count: 5_000).utf8),
        6: Array(String(repeating: "&#x41;", count: 500).utf8),
        7: Array((0..<66_000).map { " a\($0)=''" }.joined().utf8),
    ]

    private static func expanded(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        for byte in bytes {
            // A few long runs are enough; more would only take time.
            if let run = runs[byte], result.count < 60_000 { result += run } else { result.append(byte) }
        }
        return result
    }
}
