/// An element is coded as its canonical XML, in one string, with the namespace in effect.
extension Element: Codable {
    /// Codes the canonical XML.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(xml())
    }

    /// Reads coded XML; an element without a namespace takes the namespace of its later parent.
    ///
    /// - Throws: `DecodingError.dataCorrupted` with the line and column of the error; the ``XMLError`` is its
    ///   underlying error.
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
    /// Reads XML written by a program: an element without a namespace takes the namespace of its later parent, as
    /// before writing.
    static func reading(_ text: String) throws -> Element {
        let element = try parse(written: text)
        for index in 0..<element.tree.nodeCount where element.tree.nodes[index].namespace == .none {
            // A parent precedes its children.
            if index == 0 || element.tree.namespace(element.tree.nodes[index].parent) == .inherited {
                element.tree.nodes[index].namespace = .inherited
            }
        }
        return element
    }

    /// Reads without the limits for strangers.
    static func parse(written text: String) throws -> Element {
        let bytes = Array(text.utf8)
        let limits = ParserLimits(
            stanzaBytes: 1 << 30, hardStanzaBytes: 1 << 30, depth: bytes.count { $0 == UInt8(ascii: "<") },
            attributes: 1 << 30, children: 1 << 30, elements: 1 << 30, nameBytes: 1 << 30, valueBytes: 1 << 30)
        return try Element.parse(bytes, limits: limits)
    }
}
