import KalijXML

/// Parses an input in several ways of cutting: all results have to be the same.
///
/// The first byte gives the meaning of the rest, see ``ParserInput``.
func fuzzParser(_ input: UnsafeRawBufferPointer) throws {
    let parsed = ParserInput(input)
    let whole = Heard(parsed, cut: .whole)
    var cuts = [Cut.pieces(seed: parsed.seed)]
    if parsed.bytes.count <= 512 { cuts.append(.everyByte) }
    for cut in cuts {
        let other = Heard(parsed, cut: cut)
        try require(
            other.agrees(with: whole, isLong: parsed.isExpanded), "cut in \(cut): \(other)\nin one piece: \(whole)")
    }
    try require(whole.failure != nil || whole.events.last == "closed", "accepted without an end: \(whole)")
    for element in whole.elements { try requireRoundTrip(element) }
    if parsed.isDocument { try compareWithDocument(parsed) }
}

/// An element read, written and read again is the same, with the same bytes.
func requireRoundTrip(_ element: Element) throws {
    let written = element.bytes()
    do {
        let again = try Element.parse(written, limits: ParserInput.wideLimits)
        try require(again == element, "not equal after writing and reading: \(element) and \(again)")
        try require(again.bytes() == written, "written again: \(again), before: \(element)")
    } catch let error as XMLError {
        throw Finding(description: "\(error) in what was written: \(element)")
    }
}

/// A document is like a stream of nothing else: the same tree, or refused too.
private func compareWithDocument(_ input: ParserInput) throws {
    guard let document = try? Element.parse(input.bytes, limits: input.limits) else { return }
    try requireRoundTrip(document)
}

/// How an input is cut into chunks.
enum Cut {
    case whole, everyByte
    case pieces(seed: UInt64)

    func chunks(_ bytes: [UInt8]) -> [ArraySlice<UInt8>] {
        switch self {
        case .whole: return [bytes[...]]
        case .everyByte: return bytes.indices.map { bytes[$0...$0] }
        case .pieces(var random):
            var chunks: [ArraySlice<UInt8>] = []
            var rest = bytes[...]
            // Mostly short pieces, sometimes long pieces; of a long input not too many.
            let short = max(24, bytes.count / 100)
            while !rest.isEmpty {
                random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                let size = Int(truncatingIfNeeded: random >> 40)
                chunks.append(rest.prefix(size % 16 == 0 ? 1 + (size >> 4) % 20_000 : 1 + (size >> 4) % short))
                rest = rest.dropFirst(chunks.last?.count ?? 1)
            }
            return chunks
        }
    }
}

/// The parser's events for an input.
struct Heard {
    var events: [String] = []
    var skipped: [SkippedElement] = []
    var failure: String?
    var elements: [Element] = []

    init(_ input: ParserInput, cut: Cut) {
        let parser = StreamParser(limits: input.limits)
        do {
            try parser.feed(input.before) { _ in }
            for chunk in cut.chunks(input.bytes) { try parser.feed(Array(chunk)) { hear($0) } }
            try parser.finish { hear($0) }
        } catch let error as XMLError {
            failure = "\(error.condition)"
        } catch {
            failure = "\(error)"
        }
    }

    /// Whether both results are the same. After two failures the earlier events agree, but not always the reason:
    ///
    /// - For input outside UTF-8, libxml2 looks ahead as far as possible: the report may be about the encoding, or
    ///   about an earlier fault.
    /// - The hard limit is checked between the chunks: another fault may come first in a chunk.
    /// - Parts too long to wait for their end, such as a reference of 20,000 bytes, are refused before the end is
    ///   known.
    func agrees(with other: Heard, isLong: Bool) -> Bool {
        let lenient = ["unsupported-encoding", "policy-violation"]
        let isSameFailure =
            failure == other.failure || isLong || lenient.contains { $0 == failure || $0 == other.failure }
        return isSameFailure && (failure == nil) == (other.failure == nil) && events == other.events
            && skipped == other.skipped && elements == other.elements
    }

    private mutating func hear(_ event: StreamParserEvent) {
        switch event {
        case .opened(let header):
            events.append("opened \(header) \(header.defaultNamespace ?? "-")")
        case .element(let element):
            events.append("element \(element)")
            if elements.count < 8 { elements.append(element) }
        case .skipped(let element):
            events.append("skipped")
            skipped.append(element)
        case .closed: events.append("closed")
        }
    }
}
