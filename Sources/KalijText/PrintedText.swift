/// Text to print for people: the program's own words unchanged, and all inserted values cleaned.
///
/// ```swift
/// let line: PrintedText = "from \(message.from): \(message.body)"
/// ```
///
/// An output of this type only cannot be handed other people's text by mistake: a `String` gets in only by
/// interpolation into a literal, or by an explicit ``init(asIs:)``.
public struct PrintedText: ExpressibleByStringInterpolation, CustomStringConvertible, Sendable, Equatable {
    public let description: String

    /// The program's own words, or text made safe by other means. Not checked.
    public init(asIs text: String) { description = text }

    public init(stringLiteral text: String) { description = text }
    public init(stringInterpolation: StringInterpolation) { description = stringInterpolation.text }

    /// Lines: the same as an interpolation of `text` alone.
    public init(lines text: String) { description = text.cleaned(for: .lines) }

    /// A part of a line that stays on that line, such as a field between tabs.
    public init(field text: String) { description = text.cleaned(for: .field) }

    /// XML; the result means the same XML.
    public init(xml text: String) { description = text.cleaned(for: .xml) }

    /// JSON without white space; the result means the same JSON.
    public init(json text: String) { description = text.cleaned(for: .json) }

    public var isEmpty: Bool { description.isEmpty }

    public static func + (one: PrintedText, other: PrintedText) -> PrintedText {
        PrintedText(asIs: one.description + other.description)
    }

    public static func += (one: inout PrintedText, other: PrintedText) { one = one + other }

    /// Collects the pieces of an interpolated literal.
    public struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var text = ""

        public init(literalCapacity: Int, interpolationCount: Int) {
            text.reserveCapacity(literalCapacity + interpolationCount * Self.usualLength)
        }

        /// Bytes of an inserted value, so that few lines are moved while they grow.
        private static let usualLength = 40

        public mutating func appendLiteral(_ literal: String) { text += literal }
        public mutating func appendInterpolation(_ text: PrintedText) {
            if !text.isEmpty { self.text += text.description }
        }
        public mutating func appendInterpolation(_ value: some CustomStringConvertible) {
            text += value.description.cleaned(for: .lines)
        }
        public mutating func appendInterpolation(_ value: some Any) {
            text += String(describing: value).cleaned(for: .lines)
        }
    }
}

extension Sequence where Element == PrintedText {
    public func joined(separator: PrintedText) -> PrintedText {
        PrintedText(asIs: map(\.description).joined(separator: separator.description))
    }
}
