import CLibXML2

// The parts around the top-level elements: the header of the stream, and the text between top-level elements.
extension ParserState {
    mutating func openStream(
        _ context: Context, _ name: UnsafePointer<UInt8>, _ namespace: UnsafePointer<UInt8>?, declarations: Int32,
        _ spaces: UnsafeMutablePointer<UnsafePointer<UInt8>?>?, count: Int32,
        _ attributes: UnsafeMutablePointer<UnsafePointer<UInt8>?>?
    ) {
        if origin.isReplaying { return }
        // The header's ">" has not been parsed yet, but no "<" precedes it.
        previousEnd = position(context)
        storeHeader(context)
        // The header is the server's own: an app's limits for stanzas do not apply.
        var builder = TreeBuilder(limits: ParserLimits())
        defer { builder.release() }
        if let limit = builder.open(
            name, namespace, declarations: declarations, count: count, attributes, readable: readable(context))
        {
            return fail(context, "policy-violation", "the stream's header is over the limit \(limit.limit)")
        }
        let tree = builder.finish()
        tree.contentNamespace = NameReference.none
        for place in 0..<Int(declarations) where spaces?[place * 2] == nil {
            guard let uri = spaces?[place * 2 + 1] else { continue }
            tree.contentNamespace = tree.store(String(cString: uri))
        }
        events.append(.opened(Element(tree: tree, index: 0)))
    }

    private mutating func storeHeader(_ context: Context) {
        guard let tag = startTag(context) else { return }
        origin.header = Array(tag) + [UInt8(ascii: ">")]
    }

    /// Text of a CDATA section. libxml2 leaves line ends in a section unchanged if fed in chunks; XML 1.0 section 2.11 requires a
    /// line feed in place of each line end.
    mutating func cdata(_ context: Context, _ bytes: UnsafePointer<UInt8>, _ length: Int) {
        if depth <= outer { return fail(context, "bad-format", "text between the top-level elements of a stream") }
        let text = UnsafeBufferPointer(start: bytes, count: length)
        let start = position(context)
        // A long section is delivered in pieces; each piece begins at the end of the piece before.
        var from = start == splitLineEnd && text.first == 0x0A ? 1 : 0
        splitLineEnd = text.last == 0x0D ? start &+ length : -1
        while let end = text[from...].firstIndex(of: 0x0D) {
            self.text(context, bytes + from, end - from)
            withUnsafePointer(to: 0x0A) { self.text(context, $0, 1) }
            from = end + 1
            if from < length, text[from] == 0x0A { from += 1 }
        }
        self.text(context, bytes + from, length - from)
    }

    mutating func strayText(_ context: Context, _ bytes: UnsafePointer<UInt8>, _ length: Int) {
        let blank = UnsafeBufferPointer(start: bytes, count: length)
            .allSatisfy { $0 == 0x20 || $0 == 0x0A || $0 == 0x0D || $0 == 0x09 }
        if !blank { fail(context, "bad-format", "text between the top-level elements of a stream") }
    }
}
