import Synchronization

/// The compiled queries, shared by all threads and bounded.
final class QueryCache: Sendable {
    static let shared = QueryCache()

    /// How many literals, and how many texts, are kept.
    private static let capacity = 1_024

    /// Where a literal stands in the program: its pieces' addresses and lengths, and the result type.
    struct LiteralKey: Hashable {
        var type: ObjectIdentifier
        var first: UInt
        var length: Int
        var rest: [UInt]
    }

    private struct TextKey: Hashable {
        var type: ObjectIdentifier
        var text: [UInt8]
    }

    private struct Programs {
        var literals: [LiteralKey: Program] = [:]
        var texts: [TextKey: Program] = [:]
    }

    private let programs = Mutex(Programs())

    func program<R: QueryValue>(
        _ key: LiteralKey, for type: R.Type, text: () -> [UInt8]
    ) throws(QuerySyntaxError) -> Program {
        if let known = programs.withLock({ $0.literals[key] }) { return known }
        let program = try QueryCache.compile(text(), for: type, interning: true)
        programs.withLock { programs in
            if programs.literals.count >= QueryCache.capacity { programs.literals.removeAll() }
            programs.literals[key] = program
        }
        return program
    }

    func program<R: QueryValue>(text: [UInt8], for type: R.Type) throws(QuerySyntaxError) -> Program {
        let key = TextKey(type: ObjectIdentifier(type), text: text)
        if let known = programs.withLock({ $0.texts[key] }) { return known }
        let program = try QueryCache.compile(text, for: type, interning: false)
        programs.withLock { programs in
            if programs.texts.count >= QueryCache.capacity { programs.texts.removeAll() }
            programs.texts[key] = program
        }
        return program
    }

    private static func compile<R: QueryValue>(
        _ bytes: [UInt8], for type: R.Type, interning: Bool
    ) throws(QuerySyntaxError) -> Program {
        let program = try QueryParser.compile(bytes, interning: interning)
        guard type.isGiven(by: program.kind) else {
            throw QuerySyntaxError(
                query: program.source, column: program.source.count + 1,
                problem: "expected a query that gives \(type), this one gives \(program.kind.rawValue)")
        }
        return program
    }
}
