#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A compiled query with results of the type `Result`.
///
/// ```swift
/// let body: String? = message.findFirst("body#")
/// let stamp: Date? = message.findFirst("{urn:xmpp:delay}delay@stamp|datetime")
/// let mine: Element? = iq.findFirst("{jabber:iq:roster}query/item<jid=\(jid)>")
/// ```
///
/// <doc:QueryLanguage> describes how queries are written. An interpolated value, like the argument of a `%@`, is a value: any
/// character is allowed, and the query never changes. A literal is compiled once. A literal with an error, or of another type, is
/// a programming error and stops the program with a message; a query from text throws the error.
@frozen
public struct Query<Result: QueryValue>: Sendable {
    @usableFromInline let core: QueryCore

    @inlinable
    init(_ core: QueryCore) { self.core = core }

    /// Compiles a query from text, as typed by a user.
    ///
    /// - Parameters:
    ///   - text: The query.
    ///   - arguments: The values of the `%` specifiers, in order.
    /// - Throws: ``QuerySyntaxError`` if the text is not a query, or the query gives another type or has another number
    ///   of specifiers.
    public init(parsing text: String, arguments: [String] = []) throws(QuerySyntaxError) {
        let bytes = Array(text.utf8)
        try Query.requireNoHole(in: bytes)
        let program = try QueryCache.shared.program(text: bytes, for: Result.self)
        guard program.arguments == arguments.count else {
            throw QuerySyntaxError(
                query: text, column: text.count + 1,
                problem: "expected \(program.arguments) arguments for its % specifiers, found \(arguments.count)")
        }
        core = QueryCore(program, arguments: arguments)
    }

    /// The kind of the results.
    public var kind: QueryKind { core.program.kind }
}

extension Query: ExpressibleByStringInterpolation {
    @inlinable
    public init(stringLiteral value: StaticString) {
        core = literalCore(
            UInt(bitPattern: value.utf8Start), UInt(bitPattern: value.utf8CodeUnitCount), Result.self)
    }

    @inlinable
    public init(stringInterpolation: Interpolation) {
        core = QueryCore(stringInterpolation.pieces, for: Result.self)
    }

    /// Gathers the pieces of an interpolated query and the values between the pieces.
    @frozen
    public struct Interpolation: StringInterpolationProtocol {
        @usableFromInline var pieces: QueryPieces

        @inlinable
        public init(literalCapacity: Int, interpolationCount: Int) { pieces = QueryPieces(interpolationCount) }

        @inlinable
        public mutating func appendLiteral(_ literal: StaticString) { pieces.append(literal) }

        /// Binds a value.
        @inlinable
        public mutating func appendInterpolation(_ value: some QueryArgument) { pieces.append(value.queryText) }
    }
}

/// A value for a query's filter.
public protocol QueryArgument {
    /// The text to compare attributes with.
    var queryText: String { get }
}

extension String: QueryArgument { public var queryText: String { self } }
extension Substring: QueryArgument { public var queryText: String { String(self) } }
extension Int: QueryArgument { public var queryText: String { String(self) } }
extension UInt: QueryArgument { public var queryText: String { String(self) } }
extension Int32: QueryArgument { public var queryText: String { String(self) } }
extension UInt32: QueryArgument { public var queryText: String { String(self) } }
extension Int64: QueryArgument { public var queryText: String { String(self) } }
extension UInt64: QueryArgument { public var queryText: String { String(self) } }
extension Double: QueryArgument { public var queryText: String { String(self) } }
extension UUID: QueryArgument { public var queryText: String { uuidString.lowercased() } }
