import CLibXML2

typealias Context = UnsafeMutablePointer<xmlParserCtxt>

/// The state of the SAX callbacks, behind a plain pointer in the context's `_private`: a class there costs a fifth more
/// time. The owner is `StreamParser`.
struct ParserState {
    let limits: ParserLimits
    /// Elements around a top-level element: 1 in a stream, 0 in a document.
    let outer: Int
    var builder: TreeBuilder
    /// Open elements, with the stream's element.
    var depth = 0
    /// The limit exceeded by the open top-level element; nothing of the element is kept from then on.
    var skipping: LimitKind?
    var skipped: SkippedElement?
    var events = EventQueue()
    var failure: XMLError?
    /// The failure, once everything before the failure has been delivered.
    var thrown: XMLError?
    var context: Context?
    var isFinished = false
    /// How often the parser began anew.
    var restarts = 0
    /// Bytes not yet given to libxml2.
    var held: [UInt8] = []
    /// Bytes left out of `held`, see ``OversizedTag``.
    var leftOut = 0
    /// A start tag too long for libxml2 to search again with every chunk.
    var longTag: OversizedTag?
    /// Where the open top-level element began, in bytes of the stream.
    var start = 0
    var startLine = 1
    /// Declarations in scope, summed over the skipped elements.
    var namespaceWork = 0
    var origin = Origin()
    /// Where the last top-level element, or the stream's header, ended.
    var previousEnd = 0
    /// The first bytes of the open top-level element, from earlier chunks.
    var earlier = Region<UInt8>(capacity: 4_096)
    /// The end of a piece of a CDATA section with a carriage return as its last byte, because the line feed may follow;
    /// or -1.
    var splitLineEnd = -1
    /// Bytes given to libxml2 before the chunk, and with the chunk.
    var fed = 0
    var chunk = UnsafeRawBufferPointer(start: nil, count: 0)
    /// Where the chunk begins, in bytes of the stream.
    var chunkStart = 0
    /// The context has to be replaced: the place and the bytes for the new context.
    var renewal: Renewal?

    /// Where the context began, if that was in the middle of the stream.
    struct Origin {
        /// What to add to the context's own positions: such a context counts from its header.
        var bytes = 0
        var lines = 0
        /// The start tag of the stream, to begin another context with.
        var header: [UInt8] = []
        /// The context is being led through the header once more.
        var isReplaying = false
        /// The name and the namespace of the element after which another stream begins, if there is such an element.
        var lastElement: (name: String, namespace: String)?
        /// The bytes after that element that libxml2 had already; nil until the element was parsed.
        var rest: [UInt8]?
    }

    struct Renewal {
        var place: Int
        var line: Int
        var rest: [UInt8]
    }

    func release() {
        builder.release()
        earlier.release()
        events.release()
    }

    init(limits: ParserLimits, outer: Int) {
        self.limits = limits
        self.outer = outer
        builder = TreeBuilder(limits: limits)
    }
}

// MARK: - Positions

extension ParserState {
    @inline(__always)
    func position(_ context: Context) -> Int {
        guard let input = context.pointee.input, let current = input.pointee.cur, let base = input.pointee.base else {
            return origin.bytes
        }
        return origin.bytes &+ Int(truncatingIfNeeded: input.pointee.consumed) &+ (current - base)
    }

    /// The addresses of libxml2's buffer: most names, values and texts of the callbacks lie inside.
    @inline(__always)
    func readable(_ context: Context) -> Range<UInt> {
        guard let input = context.pointee.input, let base = input.pointee.base, let end = input.pointee.end, base <= end
        else { return 0..<0 }
        return Range(uncheckedBounds: (UInt(bitPattern: base), UInt(bitPattern: end)))
    }

    /// The bytes in libxml2 that were not parsed.
    private func unread(_ context: Context) -> [UInt8] {
        guard let input = context.pointee.input, let current = input.pointee.cur, let end = input.pointee.end else {
            return []
        }
        let rest = Array(UnsafeBufferPointer(start: current, count: max(end - current, 0)))
        // libxml2 keeps a carriage return at the end of a chunk back until the rest is parsed.
        return chunk.last == 0x0D ? rest + [0x0D] : rest
    }

    func line(_ context: Context) -> Int {
        origin.lines + Int(context.pointee.input?.pointee.line ?? 1)
    }

    /// Ends the parse with an error of this parser's own.
    mutating func fail(_ context: Context, _ condition: String, _ text: String) {
        guard failure == nil else { return }
        let column = Int(context.pointee.input?.pointee.col ?? 1)
        failure = XMLError(condition: condition, text: text, line: line(context), column: max(column, 1))
        stop(context)
    }

    /// Makes libxml2 return from the chunk. libxml2's own xmlStopParser would free buffers still in use by the caller
    /// of a callback.
    func stop(_ context: Context) {
        if context.pointee.errNo == 0 { context.pointee.errNo = Int32(XML_ERR_INTERNAL_ERROR.rawValue) }
        context.pointee.disableSAX = 1
    }
}

// MARK: - Elements

extension ParserState {
    @inline(__always)
    mutating func open(
        _ context: Context, _ name: UnsafePointer<UInt8>, _ namespace: UnsafePointer<UInt8>?, declarations: Int32,
        _ spaces: UnsafeMutablePointer<UnsafePointer<UInt8>?>?, count: Int32,
        _ attributes: UnsafeMutablePointer<UnsafePointer<UInt8>?>?
    ) {
        depth &+= 1
        if depth <= outer {
            return openStream(context, name, namespace, declarations: declarations, spaces, count: count, attributes)
        }
        if depth == outer &+ 1 { begin(context) }
        if skipping != nil { return countWork(context) }
        if let limit = builder.open(
            name, namespace, declarations: declarations, count: count, attributes, readable: readable(context))
        {
            skip(limit)
            if depth == outer &+ 1 { describeSkipped(name, namespace, Int(count), attributes) }
        }
    }

    @inline(__always)
    mutating func close(_ context: Context) {
        depth &-= 1
        if depth < outer {
            events.append(.closed)
            return
        }
        if skipping == nil { builder.close() }
        if depth == outer { complete(context) }
    }

    @inline(__always)
    mutating func text(_ context: Context, _ bytes: UnsafePointer<UInt8>, _ length: Int) {
        if depth <= outer { return strayText(context, bytes, length) }
        if skipping != nil || length == 0 { return }
        if let limit = builder.text(bytes, length, readable: readable(context)) { skip(limit) }
    }

    /// A top-level element begins: remembers the place, and the bytes from earlier chunks.
    private mutating func begin(_ context: Context) {
        startLine = line(context)
        namespaceWork = 0
        if previousEnd >= chunkStart {
            // The whole start tag is in this chunk, after nothing but white space.
            var offset = previousEnd &- chunkStart
            while offset < chunk.count, chunk[offset] != UInt8(ascii: "<") { offset &+= 1 }
            start = chunkStart &+ offset
            return
        }
        guard let tag = startTag(context), let end = context.pointee.input?.pointee.end else { return }
        start = position(context) &- tag.count
        guard start < chunkStart, let first = tag.baseAddress else { return }
        // The tag's last bytes may be from an earlier chunk, too.
        let before = min(chunkStart - start, limits.prefixBytes, end - first)
        earlier.append(UnsafeRawBufferPointer(start: first, count: before))
    }

    /// libxml2 looks through all declarations in scope to find the namespace of an element.
    private mutating func countWork(_ context: Context) {
        namespaceWork &+= Int(context.pointee.nsNr)
        if namespaceWork > ParserState.maxNamespaceWork {
            fail(context, "policy-violation", "too many namespace declarations")
        }
        if depth > ParserState.maxLevels {
            fail(context, "policy-violation", "elements nested more than \(ParserState.maxLevels) deep")
        }
    }

    /// libxml2 keeps 36 bytes a level; a stanza of 1 MiB cannot be nested as deep.
    private static let maxLevels = 163_840

    /// Some seconds; a stanza of less than 512 KiB cannot reach this number.
    private static let maxNamespaceWork = 8_000_000_000

    /// The open start tag, without its last bytes ">" or "/>".
    func startTag(_ context: Context) -> UnsafeBufferPointer<UInt8>? {
        guard let input = context.pointee.input, let current = input.pointee.cur, let base = input.pointee.base else {
            return nil
        }
        // Only the first byte of a tag can be "<".
        var tag = current
        while tag > base, tag.pointee != UInt8(ascii: "<") { tag -= 1 }
        return UnsafeBufferPointer(start: tag, count: current - tag)
    }

    private mutating func complete(_ context: Context) {
        let end = position(context)
        // The same for a stanza in one chunk and in many: the length is also checked after each chunk.
        if end &- start &+ leftOut >= limits.hardStanzaBytes {
            return fail(context, "policy-violation", "a stanza of \(limits.hardStanzaBytes) bytes or more")
        }
        if skipping == nil, end &- start &+ leftOut > limits.stanzaBytes { skip(.stanzaBytes) }
        if skipping != nil {
            deliverSkipped(end)
        } else {
            let element = Element(tree: builder.finish(), index: 0)
            if let last = origin.lastElement, element.isNamed(last.name, last.namespace) {
                origin.rest = unread(context)
                stop(context)
            }
            events.append(.element(element))
        }
        if origin.rest != nil { return }
        if earlier.count > 0 { earlier.reset(keep: 8_192) }
        previousEnd = end
        if let dictionary = context.pointee.dict, xmlDictGetUsage(dictionary) > ParserState.dictionaryBytes, outer > 0 {
            renewal = Renewal(place: end, line: line(context), rest: unread(context))
            stop(context)
        }
    }

    /// libxml2 never forgets a name; a context with more bytes of names is replaced between two stanzas.
    private static let dictionaryBytes = 256 * 1_024
}
