import CLibXML2

// What keeps hostile input from costing more memory or time than its length.
extension StreamParser {
    /// Gives libxml2 what may be given, and keeps the rest for later.
    ///
    /// - A `]` at the end waits for what follows: libxml2 misses a `]]>` that is cut in two.
    /// - A long start tag waits for its end: libxml2 would look through all of it again with every chunk.
    func hold(_ piece: UnsafeRawBufferPointer) {
        if state.pointee.longTag?.ends(in: piece) == false {
            state.pointee.held.append(contentsOf: piece)
            return
        }
        state.pointee.longTag = nil
        var joined = state.pointee.held
        joined.append(contentsOf: piece)
        var back = 0
        while back < 2, back < joined.count, joined[joined.count - 1 - back] == UInt8(ascii: "]") { back += 1 }
        state.pointee.held = Array(joined.suffix(back))
        joined.removeLast(back)
        joined.withUnsafeBytes { parse($0) }
    }

    /// Looks at what libxml2 waits for, and at how long the open top-level element is.
    func enforceLimits() {
        guard let context = state.pointee.context, state.pointee.failure == nil else { return }
        let position = state.pointee.position(context)
        let received = state.pointee.fed + state.pointee.held.count
        if received - position > StreamParser.waitingBytes { judgeWaiting(context) }
        if let names = context.pointee.dict, xmlDictSize(names) > StreamParser.mostNames {
            state.pointee.fail(context, "policy-violation", "a stanza with more than \(StreamParser.mostNames) names")
        }
        let isOpen = state.pointee.depth > outer
        let length = received - (isOpen ? state.pointee.start : position)
        if isOpen, state.pointee.skipping == nil, length > limits.stanzaBytes { state.pointee.skip(.stanzaBytes) }
        // Every open element needs an end tag of at least four bytes: this also bounds what deep nesting costs.
        if length + max(state.pointee.depth - outer, 0) * 4 >= limits.hardStanzaBytes {
            state.pointee.fail(context, "policy-violation", "a stanza of \(limits.hardStanzaBytes) bytes or more")
        }
    }

    /// libxml2's dictionary gets slow with more; a stanza of less than 1 MiB cannot hold as many.
    private static let mostNames = 262_144

    /// libxml2 keeps so much back only while it waits for the end of something.
    private static let waitingBytes = 16_384

    private func judgeWaiting(_ context: Context) {
        guard state.pointee.longTag == nil else {
            if state.pointee.longTag?.hasTooManyAttributes == true {
                state.pointee.fail(context, "policy-violation", "more than \(LongTag.mostAttributes) attributes")
            }
            return
        }
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
            var tag = LongTag()
            if !tag.ends(in: UnsafeRawBufferPointer(start: current, count: end - current)) {
                state.pointee.longTag = tag
            }
        default: break
        }
    }

    /// Lets libxml2 take what it has of a CDATA section: it takes 300 bytes at a time, and would look through the
    /// whole rest with every chunk.
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

/// Looks for the end of a start tag that comes in many chunks, each byte once.
struct LongTag {
    /// libxml2 compares each attribute of an element with each other.
    static let mostAttributes = 65_536

    private var quote: UInt8?
    private var attributes = 0

    var hasTooManyAttributes: Bool { attributes > LongTag.mostAttributes }

    /// Whether the tag ends in `bytes`: a ">" outside quotes.
    mutating func ends(in bytes: UnsafeRawBufferPointer) -> Bool {
        for byte in bytes {
            if let open = quote {
                if byte == open { quote = nil }
            } else if byte == UInt8(ascii: "'") || byte == UInt8(ascii: "\"") {
                quote = byte
                attributes += 1
            } else if byte == UInt8(ascii: ">") {
                return true
            }
        }
        return false
    }
}
