/// An error in a query, with its place.
public struct QuerySyntaxError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The query; `\(...)` stands for an interpolated value.
    public var query: String
    /// The column in characters, from 1. One past the end if something is missing there.
    public var column: Int
    /// The expected text, or the error at this place.
    public var problem: String

    public var description: String { "query \"\(query)\", column \(column): \(problem)" }
}
