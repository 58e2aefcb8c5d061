/// The parts of a stream.
public enum StreamParserEvent {
    /// The stream's header: name, namespace and attributes; ``Element/defaultNamespace`` is the namespace of the
    /// stanzas.
    case opened(Element)
    /// A complete top-level element.
    case element(Element)
    /// A complete, well-formed top-level element over a limit.
    indirect case skipped(SkippedElement)
    /// The end tag of the stream.
    case closed
}

/// A top-level element over a limit: well-formed, but not kept.
public struct SkippedElement: Sendable, Equatable {
    /// The limit exceeded by an element.
    public struct Limit: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
        public var rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        /// More than ``ParserLimits/stanzaBytes`` bytes in all.
        public static let stanzaBytes = Limit(rawValue: "stanza-bytes")
        /// More levels than ``ParserLimits/depth``.
        public static let depth = Limit(rawValue: "depth")
        /// An element with more attributes than ``ParserLimits/attributes``.
        public static let attributes = Limit(rawValue: "attributes")
        /// An element with more children than ``ParserLimits/children``.
        public static let children = Limit(rawValue: "children")
        /// More elements than ``ParserLimits/elements``.
        public static let elements = Limit(rawValue: "elements")
        /// A name or a namespace of more than ``ParserLimits/nameBytes`` bytes.
        public static let nameBytes = Limit(rawValue: "name-bytes")
        /// A value or a text of more than ``ParserLimits/valueBytes`` bytes.
        public static let valueBytes = Limit(rawValue: "value-bytes")
        public var description: String { rawValue }
    }

    /// The name of the top-level element, at most ``ParserLimits/nameBytes`` of it.
    public var name: String
    /// The namespace of the top-level element.
    public var namespace: String?
    /// Attributes of the top-level element: the first 64, those with values over 4 KiB left out.
    public var attributes: [String: String]  // characters: equivalent names are one; the last counts.
    /// The exceeded limit.
    public var limit: Limit
    /// The first bytes as received, at most ``ParserLimits/prefixBytes``.
    public var prefix: [UInt8]
    /// The length in bytes as received.
    public var byteCount: Int
    /// The line of the beginning.
    public var line: Int
}
