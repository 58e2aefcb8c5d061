/// The limits of a parser. A well-formed stanza over a limit is skipped and delivered as ``SkippedElement``;
/// ``hardStanzaBytes`` ends the stream, and so does a stanza that cannot be skipped in bounded memory.
public struct ParserLimits: Sendable, Equatable {
    /// Bytes of a stanza as received.
    public var stanzaBytes: Int
    /// Bytes of a stanza at which the stream ends with `policy-violation`.
    public var hardStanzaBytes: Int
    /// Levels of elements, the stanza itself being the first.
    public var depth: Int
    /// Attributes of an element, with namespace declarations.
    public var attributes: Int
    /// Child elements of an element.
    public var children: Int
    /// Elements of a whole stanza.
    public var elements: Int
    /// Bytes of a name or a namespace.
    public var nameBytes: Int
    /// Bytes of an attribute's value or an element's own text.
    public var valueBytes: Int
    /// How many first bytes of a skipped stanza are delivered.
    public var prefixBytes: Int

    /// Limits; a limit left out has its default.
    ///
    /// - Parameters:
    ///   - stanzaBytes: Bytes of a stanza: 1 MiB, at most `hardStanzaBytes`.
    ///   - hardStanzaBytes: Bytes of a stanza at which the stream ends: 16 MiB, from 1 KiB to 1 GiB.
    ///   - depth: Levels of elements: 128, at most 65,536.
    ///   - attributes: Attributes of an element: 256.
    ///   - children: Children of an element: 32,768.
    ///   - elements: Elements of a stanza: 65,536.
    ///   - nameBytes: Bytes of a name or a namespace: 4 KiB, at least 16.
    ///   - valueBytes: Bytes of a value or a text: 1 MiB.
    ///   - prefixBytes: First bytes kept of a skipped stanza: 64 KiB.
    public init(
        stanzaBytes: Int = 1 << 20, hardStanzaBytes: Int = 16 << 20, depth: Int = 128, attributes: Int = 256,
        children: Int = 32_768, elements: Int = 65_536, nameBytes: Int = 4_096, valueBytes: Int = 1 << 20,
        prefixBytes: Int = 65_536
    ) {
        self.hardStanzaBytes = min(max(hardStanzaBytes, 1_024), 1 << 30)
        self.stanzaBytes = min(max(stanzaBytes, 1), self.hardStanzaBytes)
        self.depth = min(max(depth, 1), 65_536)
        self.attributes = max(attributes, 1)
        self.children = max(children, 1)
        self.elements = max(elements, 1)
        self.nameBytes = max(nameBytes, 16)
        self.valueBytes = max(valueBytes, 1)
        self.prefixBytes = max(prefixBytes, 0)
    }
}
