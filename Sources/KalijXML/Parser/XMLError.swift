/// An error in XML, with its place.
public struct XMLError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The stream error condition of RFC 6120 section 4.9.3, such as `not-well-formed`.
    public var condition: String
    /// The error, in English.
    public var text: String
    /// The line, from 1.
    public var line: Int
    /// The column in bytes, from 1.
    public var column: Int

    /// An error at a place in the input.
    public init(condition: String, text: String, line: Int, column: Int) {
        self.condition = condition
        self.text = text
        self.line = line
        self.column = column
    }

    public var description: String { "line \(line), column \(column): \(text) (\(condition))" }
}
