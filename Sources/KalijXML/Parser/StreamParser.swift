import CLibXML2

/// Reads an XML stream from chunks of any size and hands out its header, its top-level elements and its end.
///
/// The result does not depend on the cuts between chunks. As RFC 6120 section 11 requires, comments, processing instructions,
/// document type declarations, entities other than the five predefined ones and other encodings than UTF-8 are refused. White
/// space between top-level elements is ignored.
///
/// ```swift
/// let parser = StreamParser()
/// try parser.feed(Array("<stream xmlns='jabber:client'><message/><pres".utf8)) { event in
///     if case .element(let stanza) = event { print(stanza.name) }
/// }
/// ```
///
/// A parser has one owner at a time. Do not feed a parser from inside its closure.
public final class StreamParser {
    // Owned here: set up in init, torn down in deinit after the context with its reference.
    let state: UnsafeMutablePointer<ParserState>
    let outer: Int
    let limits: ParserLimits

    /// A parser at the beginning of a stream.
    ///
    /// - Parameter limits: The limits of the stanzas.
    public convenience init(limits: ParserLimits = .init()) {
        self.init(limits: limits, outer: 1)
    }

    /// `outer` is 1 for a stream, whose children are delivered, and 0 for a document, delivered whole.
    init(limits: ParserLimits, outer: Int) {
        self.limits = limits
        self.outer = outer
        state = .allocate(capacity: 1)
        state.initialize(to: ParserState(limits: limits, outer: outer))
    }

    deinit {
        freeContext()
        state.pointee.release()
        state.deinitialize(count: 1)
        state.deallocate()
    }

    /// Reads a chunk and calls `body` forevery completed part, in order.
    ///
    /// - Parameters:
    ///   - bytes: The next bytes of the stream, as many as there are.
    ///   - body: Owns its elements.
    /// - Throws: ``XMLError`` if the stream has to end; parts complete before the error have been delivered, and every
    ///   later call throws the same error. Also the errors of `body`; the rest of the chunk's events are then lost.
    public func feed(_ bytes: UnsafeRawBufferPointer, _ body: (sending StreamParserEvent) throws -> Void) throws {
        if let failure = state.pointee.thrown { throw failure }
        let beganWith = state.pointee.restarts
        var rest = bytes
        while !rest.isEmpty {
            let piece = rest.prefix(StreamParser.pieceBytes)  // characters: bytes.
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(piece.count))
            if state.pointee.held.isEmpty, state.pointee.longTag == nil, piece[piece.endIndex &- 1] != UInt8(ascii: "]")
            {
                parse(UnsafeRawBufferPointer(rebasing: piece))
            } else {
                hold(UnsafeRawBufferPointer(rebasing: piece))
            }
            enforceLimits()
            try deliver(body)
            if state.pointee.restarts != beganWith { return }
            if let began = state.pointee.origin.rest { return try beginStream(began + state.pointee.held + rest, body) }
        }
    }

    /// The next stream begins with these bytes. White space before belongs to neither stream.
    private func beginStream(_ bytes: [UInt8], _ body: (sending StreamParserEvent) throws -> Void) throws {
        restart()
        try feed(Array(bytes.drop { $0 == 0x20 || $0 == 0x0A || $0 == 0x0D || $0 == 0x09 }), body)
    }

    /// Reads a chunk, see ``feed(_:_:)-(UnsafeRawBufferPointer,_)``.
    ///
    /// - Throws: ``XMLError``, or the errors of `body`.
    public func feed(_ bytes: [UInt8], _ body: (sending StreamParserEvent) throws -> Void) throws {
        try bytes.withUnsafeBytes { try feed($0, body) }
    }

    /// The input has ended.
    ///
    /// - Parameter body: Called for parts that were held back and are now complete.
    /// - Throws: ``XMLError`` if the input ended inside an element, or before the stream's end tag; or the errors of
    ///   `body`.
    public func finish(_ body: (sending StreamParserEvent) throws -> Void) throws {
        if let failure = state.pointee.thrown { throw failure }
        guard !state.pointee.isFinished else { return }
        state.pointee.isFinished = true
        if !state.pointee.held.isEmpty {
            let last = state.pointee.held
            state.pointee.held = []
            last.withUnsafeBytes { parse($0) }
        }
        if state.pointee.context == nil { makeContext() }
        if let context = state.pointee.context, state.pointee.failure == nil {
            _ = xmlParseChunk(context, nil, 0, 1)
            state.pointee.explainEnd(context)
        }
        try deliver(body)
    }

    /// A new stream begins with the next chunk, as after STARTTLS and SASL.
    ///
    /// May be called from inside the closure given to ``feed(_:_:)-(UnsafeRawBufferPointer,_)``: the rest of the chunk
    /// is then dropped.
    public func restart() {
        let restarts = state.pointee.restarts
        freeContext()
        state.pointee.release()
        state.pointee = ParserState(limits: limits, outer: outer)
        state.pointee.restarts = restarts &+ 1
    }

    /// A new stream begins after the next top-level element of this name, as after SASL: the bytes that follow, in the same
    /// chunk or later, are a new stream. Counts once, and for the present stream alone.
    ///
    /// - Parameters:
    ///   - name: The local name of the element.
    ///   - namespace: Its namespace.
    public func expectRestart(after name: String, _ namespace: String) {
        state.pointee.origin.lastElement = (name, namespace)
    }

    /// How many bytes libxml2 gets at once: a bound for the parts gathered before delivery.
    private static let pieceBytes = 32_768
}

// MARK: - Feeding libxml2

extension StreamParser {
    private func makeContext() {
        var handler = SAXCallbacks.handler()
        guard let context = xmlCreatePushParserCtxt(&handler, nil, nil, 0, nil) else {
            state.pointee.failure = XMLError(
                condition: "resource-constraint", text: "no memory for a parser", line: 1, column: 1)
            return
        }
        // NOENT: without this option libxml2 2.9 gives "&amp;" in an attribute as "&#38;". Entities of a document's own
        // are refused. HUGE: libxml2's own limits end the parse, those of this parser skip an element.
        let options = XML_PARSE_HUGE.rawValue | XML_PARSE_NONET.rawValue | XML_PARSE_NOENT.rawValue
        xmlCtxtUseOptions(context, Int32(options))  // fits: constants of a few bits
        context.pointee._private = UnsafeMutableRawPointer(state)
        state.pointee.context = context
    }

    private func freeContext() {
        guard let context = state.pointee.context else { return }
        if let document = context.pointee.myDoc { xmlFreeDoc(document) }
        context.pointee.myDoc = nil
        xmlFreeParserCtxt(context)
        state.pointee.context = nil
    }

    func parse(_ bytes: UnsafeRawBufferPointer) {
        guard !bytes.isEmpty else { return }
        if state.pointee.context == nil { makeContext() }
        judgeBeginning(bytes)
        state.pointee.builder.names.refresh()
        state.pointee.chunk = bytes
        state.pointee.chunkStart = state.pointee.fed
        push(bytes)
        while let renewal = state.pointee.renewal, state.pointee.failure == nil {
            state.pointee.renewal = nil
            renew(renewal)
            renewal.rest.withUnsafeBytes { push($0) }
        }
        state.pointee.fed += bytes.count
        keepBeginning(of: bytes)
        state.pointee.chunk = UnsafeRawBufferPointer(start: nil, count: 0)
    }

    private func push(_ bytes: UnsafeRawBufferPointer) {
        guard let context = state.pointee.context, state.pointee.failure == nil, state.pointee.origin.rest == nil,
            !bytes.isEmpty
        else { return }
        let start = bytes.bindMemory(to: CChar.self).baseAddress
        let warnings = kalij_xml_exchange_warnings(0)
        // fits: a piece, a header or the held part of a tag: less than the hard limit of at most 1 GiB
        let code = xmlParseChunk(context, start, Int32(bytes.count), 0)
        _ = kalij_xml_exchange_warnings(warnings)
        guard code != 0, state.pointee.failure == nil, state.pointee.renewal == nil, state.pointee.origin.rest == nil
        else {
            return
        }
        if context.pointee.wellFormed == 0 || context.pointee.disableSAX != 0 {
            state.pointee.fail(context, "not-well-formed", "malformed XML (libxml2 error \(code))")
        }
    }

    /// Replaces the context by a fresh context, which reads the stream's header first.
    private func renew(_ renewal: ParserState.Renewal) {
        freeContext()
        state.pointee.builder.renewNames()
        makeContext()
        guard let context = state.pointee.context else { return }
        let header = state.pointee.origin.header
        state.pointee.origin.isReplaying = true
        state.pointee.depth = 0
        header.withUnsafeBytes { push($0) }
        state.pointee.origin.isReplaying = false
        state.pointee.origin.bytes = renewal.place - header.count
        state.pointee.origin.lines = renewal.line - Int(context.pointee.input?.pointee.line ?? 1)
    }

    /// Keeps the first bytes of a top-level element for the case that the element continues in the next chunk.
    private func keepBeginning(of bytes: UnsafeRawBufferPointer) {
        guard state.pointee.depth > outer else { return }
        let room = limits.prefixBytes - state.pointee.earlier.count
        guard room > 0 else { return }
        let from = max(state.pointee.start - state.pointee.chunkStart, 0)
        guard from < bytes.count else { return }
        let piece = UnsafeRawBufferPointer(rebasing: bytes[from..<min(from + room, bytes.count)])
        state.pointee.earlier.append(piece)
    }

    private func deliver(_ body: (sending StreamParserEvent) throws -> Void) throws {
        let began = state.pointee.restarts
        state.pointee.thrown = state.pointee.failure
        while let event = state.pointee.events.next() {
            do {
                try body(event)
            } catch {
                if state.pointee.restarts == began { state.pointee.events.removeAll() }
                throw error
            }
            if state.pointee.restarts != began { return }
        }
        if let failure = state.pointee.thrown { throw failure }
    }
}
