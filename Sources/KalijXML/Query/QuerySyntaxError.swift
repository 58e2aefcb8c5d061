/// What is wrong with a query, and where.
public struct QuerySyntaxError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The query; `\(...)` stands for an interpolated value.
    public var query: String
    /// The column in characters, from 1. One past the end if something is missing there.
    public var column: Int
    /// What was expected there, or what is wrong with what stands there.
    public var problem: String

    public var description: String { "query \"\(query)\", column \(column): \(problem)" }
}
