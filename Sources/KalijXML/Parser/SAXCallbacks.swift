import CLibXML2
import KalijText

/// The callbacks. libxml2 gets no user data from here, because user data breaks the handling of entities: libxml2
/// passes the context, whose `_private` is the state.
enum SAXCallbacks {
    static func handler() -> xmlSAXHandler {
        var handler = xmlSAXHandler()
        handler.initialized = UInt32(XML_SAX2_MAGIC)
        handler.startDocument = startDocument
        handler.startElementNs = startElement
        handler.endElementNs = endElement
        handler.characters = characters
        // The same as `characters`: white space is content.
        handler.ignorableWhitespace = characters
        handler.cdataBlock = cdata
        handler.comment = { context, _ in SAXCallbacks.refuse(context, "a comment") }
        handler.processingInstruction = { context, _, _ in SAXCallbacks.refuse(context, "a processing instruction") }
        handler.internalSubset = { context, _, _, _ in SAXCallbacks.refuse(context, "a document type declaration") }
        handler.serror = structuredError
        return handler
    }

    // The state outlives its context: `ParserContext` frees the context first.
    @inline(__always)
    private static func state(_ raw: UnsafeMutableRawPointer?) -> (Context, UnsafeMutablePointer<ParserState>)? {
        guard let raw else { return nil }
        let context = raw.assumingMemoryBound(to: xmlParserCtxt.self)
        guard let state = context.pointee._private else { return nil }
        return (context, state.assumingMemoryBound(to: ParserState.self))
    }

    private static let startElement: startElementNsSAX2Func = { raw, name, _, uri, spaceCount, spaces, count, _, list in
        guard let (context, state) = SAXCallbacks.state(raw), let name else { return }
        state.pointee.open(context, name, uri, declarations: spaceCount, spaces, count: count, list)
    }

    private static let endElement: endElementNsSAX2Func = { raw, _, _, _ in
        guard let (context, state) = SAXCallbacks.state(raw) else { return }
        state.pointee.close(context)
    }

    private static let characters: charactersSAXFunc = { raw, bytes, length in
        guard let (context, state) = SAXCallbacks.state(raw), let bytes else { return }
        state.pointee.text(context, bytes, Int(length))
    }

    private static let cdata: cdataBlockSAXFunc = { raw, bytes, length in
        guard let (context, state) = SAXCallbacks.state(raw), let bytes else { return }
        // Only here does libxml2 accept overlong forms (F0 85 98 80). lives: libxml2 keeps the bytes during the callback.
        guard (try? UTF8Span(validating: UnsafeBufferPointer(start: bytes, count: Int(length)).span)) != nil else {
            return state.pointee.fail(context, "unsupported-encoding", "Input is not proper UTF-8")
        }
        state.pointee.cdata(context, bytes, Int(length))
    }

    private static let startDocument: startDocumentSAXFunc = { raw in
        guard let (context, state) = SAXCallbacks.state(raw) else { return }
        let declared = context.pointee.encoding ?? context.pointee.input?.pointee.encoding
        let isOther = declared.map { xmlStrcasecmp($0, "UTF-8") != 0 } ?? false
        if isOther || context.pointee.input?.pointee.buf?.pointee.encoder != nil {
            return state.pointee.fail(context, "unsupported-encoding", "another encoding than UTF-8")
        }
        // U+FEFF is no byte order mark in a stream, but a character (RFC 6120 section 11.6); none may stand here.
        if state.pointee.outer > 0, context.pointee.input?.pointee.base?.pointee == 0xEF {
            state.pointee.fail(context, "not-well-formed", "a character before the stream's header")
        }
    }

    private static func refuse(_ raw: UnsafeMutableRawPointer?, _ what: String) {
        guard let (context, state) = state(raw) else { return }
        state.pointee.fail(context, "restricted-xml", "\(what) is not allowed in XMPP")
    }

    private static let structuredError: xmlStructuredErrorFunc = { raw, error in
        guard let (context, state) = SAXCallbacks.state(raw), let error, state.pointee.failure == nil else { return }
        guard error.pointee.level.rawValue >= XML_ERR_ERROR.rawValue else { return }
        let code = UInt32(bitPattern: error.pointee.code)
        // Namespaces need not be URIs: "vcard-temp" is one.
        if code == XML_WAR_NS_URI.rawValue || code == XML_WAR_NS_URI_RELATIVE.rawValue { return }
        let message = error.pointee.message.map { String(cString: $0) } ?? "malformed XML"
        state.pointee.failure = XMLError(
            condition: SAXCallbacks.condition(code, message), text: SAXCallbacks.shortened(message),
            line: state.pointee.origin.lines + Int(max(error.pointee.line, 1)), column: Int(max(error.pointee.int2, 1)))
        state.pointee.stop(context)
    }

    /// The stream error condition for an error of libxml2 (RFC 6120 sections 4.9.3 and 11).
    ///
    /// An undeclared prefix is not well-formed (11.3; 4.9.3.13 shows an example). `bad-namespace-prefix` (4.9.3.2) is
    /// for readers of certain prefixes only; here all declared prefixes are equal.
    private static func condition(_ code: UInt32, _ message: String) -> String {
        switch code {
        case XML_ERR_UNSUPPORTED_ENCODING.rawValue, XML_ERR_INVALID_ENCODING.rawValue,
            XML_ERR_UNKNOWN_ENCODING.rawValue, XML_I18N_CONV_FAILED.rawValue:
            "unsupported-encoding"
        case XML_ERR_UNDECLARED_ENTITY.rawValue, XML_WAR_UNDECLARED_ENTITY.rawValue,
            XML_ERR_UNPARSED_ENTITY.rawValue, XML_ERR_ENTITY_IS_EXTERNAL.rawValue, XML_ERR_ENTITY_LOOP.rawValue:
            "restricted-xml"
        // libxml2 has a single code for characters forbidden in XML and for bytes outside UTF-8.
        case XML_ERR_INVALID_CHAR.rawValue where message.begins(with: "Input is not proper UTF-8"),
            XML_ERR_INVALID_CHAR.rawValue where isSurrogate(message):
            "unsupported-encoding"
        case XML_ERR_NO_MEMORY.rawValue: "resource-constraint"
        default: "not-well-formed"
        }
    }

    /// "Char 0xD800 out of allowed range": a surrogate has no UTF-8 form.
    private static func isSurrogate(_ message: String) -> Bool {
        guard let rest = message.rest(after: "Char 0x") else { return false }
        let digits = rest.prefix { $0.isHexDigit }
        return Int(digits, radix: 16).map { (0xD800...0xDFFF).contains($0) } ?? false
    }

    /// libxml2 ends its messages with a new line and quotes the input.
    private static func shortened(_ message: String) -> String {
        let line = message.unicodeScalars.prefix(200).map { isXMLCharacter($0) && $0.value >= 0x20 ? $0 : " " }
        var text = String(String.UnicodeScalarView(line))
        while text.last == " " { text.removeLast() }
        return text
    }
}
