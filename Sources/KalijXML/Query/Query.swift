#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A compiled query whose results have the type `Result`.
///
/// ```swift
/// let body: String? = message.findFirst("body#")
/// let stamp: Date? = message.findFirst("{urn:xmpp:delay}delay@stamp|datetime")
/// let mine: Element? = iq.findFirst("{jabber:iq:roster}query/item<jid=\(jid)>")
/// ```
///
/// <doc:QueryLanguage> tells how queries are written. An interpolated value, like the argument of a `%@`, is a value:
/// it may hold any character and never changes the query. A literal is compiled once. One that does not compile, or
/// that gives another type, is a programming error and stops the program with a message; a query from text throws it.
public struct Query<Result: QueryValue>: Sendable {
    let program: Program
    let interpolations: [String]

    /// Compiles a query from text, as a user types it.
    ///
    /// - Parameters:
    ///   - text: The query.
    ///   - arguments: The values of its `%` specifiers, in their order.
    /// - Throws: ``QuerySyntaxError`` if it is no query, gives another type, or has another number of specifiers.
    public init(parsing text: String, arguments: [String] = []) throws(QuerySyntaxError) {
        let bytes = Array(text.utf8)
        if let place = bytes.firstIndex(of: QueryParser.hole) {
            throw QuerySyntaxError(
                query: QueryParser.shown(bytes), column: String(decoding: bytes[..<place], as: UTF8.self).count + 1,
                problem: "expected a query without U+0000")
        }
        program = try QueryCache.shared.program(text: bytes, for: Result.self)
        guard program.arguments == arguments.count else {
            throw QuerySyntaxError(
                query: text, column: text.count + 1,
                problem: "expected \(program.arguments) arguments for its % specifiers, found \(arguments.count)")
        }
        interpolations = []
        boundArguments = arguments
    }

    /// The arguments that came with the text.
    let boundArguments: [String]

    /// What the query gives.
    public var kind: QueryKind { program.kind }

    fileprivate init(pieces: [StaticString], values: [String]) {
        var key = QueryCache.LiteralKey(
            type: ObjectIdentifier(Result.self), first: UInt(bitPattern: pieces[0].utf8Start),
            length: pieces[0].utf8CodeUnitCount, rest: [])
        for piece in pieces.dropFirst() {
            key.rest.append(UInt(bitPattern: piece.utf8Start))
            key.rest.append(UInt(piece.utf8CodeUnitCount))
        }
        do {
            program = try QueryCache.shared.program(key, for: Result.self) {
                var bytes: [UInt8] = []
                for (place, piece) in pieces.enumerated() {
                    if place > 0 { bytes.append(QueryParser.hole) }
                    bytes.append(
                        contentsOf: UnsafeBufferPointer(start: piece.utf8Start, count: piece.utf8CodeUnitCount))
                }
                return bytes
            }
        } catch {
            // A mistake in the program's own text; a precondition would lose the message in a release build.
            fatalError("\(error)")
        }
        interpolations = values
        boundArguments = []
    }
}

extension Query: ExpressibleByStringInterpolation {
    public init(stringLiteral value: StaticString) {
        self.init(pieces: [value], values: [])
    }

    public init(stringInterpolation: Interpolation) {
        self.init(pieces: stringInterpolation.pieces + [stringInterpolation.last], values: stringInterpolation.values)
    }

    /// Gathers the pieces of an interpolated query and the values between them.
    public struct Interpolation: StringInterpolationProtocol {
        fileprivate var pieces: [StaticString] = []
        fileprivate var last: StaticString = ""
        fileprivate var values: [String] = []

        public init(literalCapacity: Int, interpolationCount: Int) {
            values.reserveCapacity(interpolationCount)
        }

        public mutating func appendLiteral(_ literal: StaticString) { last = literal }

        /// Binds a value.
        public mutating func appendInterpolation(_ value: some QueryArgument) {
            pieces.append(last)
            last = ""
            values.append(value.queryText)
        }
    }
}

/// A value that a query's filter can be given.
public protocol QueryArgument {
    /// The text that attributes are compared with.
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
