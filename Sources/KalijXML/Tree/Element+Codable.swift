/// An element is coded as its canonical XML, in one string, with the namespace that it has where it is.
extension Element: Codable {
    /// Codes the canonical XML.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(xml())
    }

    /// Reads the XML that was coded; a namespace that it does not name is its parent's once it has one.
    ///
    /// - Throws: `DecodingError.dataCorrupted` with the line and column of what is wrong with the XML; the ``XMLError``
    ///   is its underlying error.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        do {
            self = try Element.reading(text)
        } catch {
            throw DecodingError.dataCorrupted(
                .init(
                    codingPath: decoder.codingPath, debugDescription: "no XML element: \(error)",
                    underlyingError: error))
        }
    }
}

extension Element {
    /// Reads what a program wrote: an element that names no namespace takes its parent's once it has one, as it did
    /// before it was written.
    static func reading(_ text: String) throws -> Element {
        let element = try parse(written: text)
        for index in 0..<element.tree.nodeCount where element.tree.nodes[index].namespace == .none {
            // A parent comes before its children.
            if index == 0 || element.tree.namespace(element.tree.nodes[index].parent) == .inherited {
                element.tree.nodes[index].namespace = .inherited
            }
        }
        return element
    }

    /// Reads without the limits that protect from strangers.
    static func parse(written text: String) throws -> Element {
        let bytes = Array(text.utf8)
        let limits = ParserLimits(
            stanzaBytes: 1 << 30, hardStanzaBytes: 1 << 30, depth: bytes.count { $0 == UInt8(ascii: "<") },
            attributes: 1 << 30, children: 1 << 30, elements: 1 << 30, nameBytes: 1 << 30, valueBytes: 1 << 30)
        return try Element.parse(bytes, limits: limits)
    }
}
