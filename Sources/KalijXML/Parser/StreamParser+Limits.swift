import CLibXML2

// Keeps hostile input from costing more memory or time than its length.
extension StreamParser {
    /// Gives libxml2 the bytes that may be parsed now, and keeps the rest for later.
    ///
    /// - A `]` at the end waits for the next byte: libxml2 misses a `]]>` in two chunks.
    /// - A long start tag waits for its end: libxml2 would search the whole tag again with every chunk.
    func hold(_ piece: UnsafeRawBufferPointer) {
        var piece = piece
        if state.pointee.longTag != nil {
            guard let end = holdTag(piece) else { return }
            piece = UnsafeRawBufferPointer(rebasing: piece[end...])
        }
        if state.pointee.failure != nil || piece.isEmpty { return }
        var back = 0
        while back < 2, back < piece.count, piece[piece.count &- 1 &- back] == UInt8(ascii: "]") { back += 1 }
        if state.pointee.held.isEmpty, back == 0 { return parse(piece) }
        var joined: [UInt8] = []
        swap(&joined, &state.pointee.held)
        joined.append(contentsOf: piece)
        back = 0
        while back < 2, back < joined.count, joined[joined.count - 1 - back] == UInt8(ascii: "]") { back += 1 }
        state.pointee.held = Array(joined.suffix(back))
        joined.removeLast(back)
        joined.withUnsafeBytes { parse($0) }
    }

    /// Keeps the bytes of a long start tag. libxml2 gets the complete tag; returns where the tag ended.
    private func holdTag(_ piece: UnsafeRawBufferPointer) -> Int? {
        var tag: [UInt8] = []
        swap(&tag, &state.pointee.held)
        let end: Int?
        do {
            end = try state.pointee.longTag?.consume(piece, into: &tag)
        } catch {
            state.pointee.failure = error
            return nil
        }
        state.pointee.leftOut = state.pointee.longTag?.leftOut ?? 0
        guard end != nil else {
            swap(&tag, &state.pointee.held)
            return nil
        }
        state.pointee.longTag = nil
        let began = state.pointee.fed
        tag.withUnsafeBytes { parse($0) }
        // From here on positions count the bytes kept from libxml2, too.
        state.pointee.fed += state.pointee.leftOut
        state.pointee.origin.bytes += state.pointee.leftOut
        if state.pointee.previousEnd > began { state.pointee.previousEnd += state.pointee.leftOut }
        state.pointee.leftOut = 0
        return end
    }

    /// Checks the bytes waiting in libxml2, and the length of the open top-level element.
    func enforceLimits() {
        guard let context = state.pointee.context, state.pointee.failure == nil, state.pointee.origin.rest == nil else {
            return
        }
        let position = state.pointee.position(context)
        let received = state.pointee.fed + state.pointee.held.count + state.pointee.leftOut
        if received - position > StreamParser.waitingBytes { judgeWaiting(context) }
        if let names = context.pointee.dict, xmlDictSize(names) > StreamParser.maxNames {
            state.pointee.fail(context, "policy-violation", "a stanza with more than \(StreamParser.maxNames) names")
        }
        let isOpen = state.pointee.depth > outer
        let length = received - (isOpen ? state.pointee.start : position)
        if isOpen, state.pointee.skipping == nil, length > limits.stanzaBytes { state.pointee.skip(.stanzaBytes) }
        // Every open element needs an end tag of at least four bytes: counting these also bounds the cost of deep
        // nesting.
        if length + max(state.pointee.depth - outer, 0) * 4 >= limits.hardStanzaBytes {
            state.pointee.fail(context, "policy-violation", "a stanza of \(limits.hardStanzaBytes) bytes or more")
        }
    }

    /// libxml2 keeps some 60 bytes a name; a stanza of 1 MiB cannot hold as many.
    private static let maxNames = 196_608

    /// libxml2 keeps so many bytes back only while waiting for the end of something.
    private static let waitingBytes = 16_384

    private func judgeWaiting(_ context: Context) {
        if state.pointee.longTag != nil { return }
        if context.pointee.instate == XML_PARSER_CDATA_SECTION { return drainSection(context) }
        guard let input = context.pointee.input, let current = input.pointee.cur, let end = input.pointee.end,
            end - current >= 2
        else { return }
        switch (current[0], current[1]) {
        case (UInt8(ascii: "<"), UInt8(ascii: "?")):
            state.pointee.fail(context, "restricted-xml", "a processing instruction is not allowed in XMPP")
        case (UInt8(ascii: "<"), UInt8(ascii: "!")):
            state.pointee.fail(context, "restricted-xml", "a comment or declaration is not allowed in XMPP")
        case (UInt8(ascii: "&"), _):
            state.pointee.fail(context, "not-well-formed", "a reference without an end")
        case (UInt8(ascii: "<"), _):
            state.pointee.longTag = OversizedTag(
                after: UnsafeRawBufferPointer(start: current, count: end - current),
                keeping: max(limits.stanzaBytes, limits.prefixBytes), line: state.pointee.line(context))
        default: break
        }
    }

    /// Makes libxml2 parse all bytes of a CDATA section. libxml2 parses 300 bytes at a time, and would search the whole rest with
    /// every chunk.
    private func drainSection(_ context: Context) {
        var before = -1
        while state.pointee.failure == nil, context.pointee.instate == XML_PARSER_CDATA_SECTION,
            state.pointee.position(context) != before
        {
            before = state.pointee.position(context)
            _ = xmlParseChunk(context, nil, 0, 0)
        }
    }
}
