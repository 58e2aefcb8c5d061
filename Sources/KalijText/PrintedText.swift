/// What is printed for people: the program's own words as they are, and all that is put into them cleaned.
///
/// ```swift
/// let line: PrintedText = "from \(message.from): \(message.body)"
/// ```
///
/// An output that takes nothing else cannot be handed what others wrote: a `String` becomes one only by being put into a literal,
/// or by ``init(asIs:)``, which has to be asked for.
public struct PrintedText: ExpressibleByStringInterpolation, CustomStringConvertible, Sendable, Equatable {
    public let description: String

    /// The program's own words, or what was made fit for where it goes by other means. Not looked at.
    public init(asIs text: String) { description = text }

    public init(stringLiteral text: String) { description = text }
    public init(stringInterpolation: StringInterpolation) { description = stringInterpolation.text }

    /// A part of a line that stays on that line, such as one of several with tabs between them.
    public init(field text: String) { description = text.cleaned(for: .field) }

    /// XML, which stays the same XML.
    public init(xml text: String) { description = text.cleaned(for: .xml) }

    /// JSON without white space, which stays the same JSON.
    public init(json text: String) { description = text.cleaned(for: .json) }

    public var isEmpty: Bool { description.isEmpty }

    public static func + (one: PrintedText, other: PrintedText) -> PrintedText {
        PrintedText(asIs: one.description + other.description)
    }

    public static func += (one: inout PrintedText, other: PrintedText) { one = one + other }

    /// Collects the pieces of an interpolated literal.
    public struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var text = ""

        public init(literalCapacity: Int, interpolationCount: Int) { text.reserveCapacity(literalCapacity) }

        public mutating func appendLiteral(_ literal: String) { text += literal }
        public mutating func appendInterpolation(_ text: PrintedText) { self.text += text.description }
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
