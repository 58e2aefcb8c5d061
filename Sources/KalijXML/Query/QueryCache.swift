import Synchronization

/// The compiled queries, shared by all threads and bounded.
final class QueryCache: Sendable {
    static let shared = QueryCache()

    /// How many texts are kept, and how many literals beyond those of ``LiteralTable``.
    private static let capacity = 1_024

    private struct TextKey: Hashable {
        var type: ObjectIdentifier
        var text: [UInt8]
    }

    private struct Programs {
        /// How many literals are in the ``LiteralTable``.
        var literalCount = 0
        /// The literals beyond the table's room.
        var literals: [LiteralTable.Key: Program] = [:]
        var texts: [TextKey: Program] = [:]
    }

    private let programs = Mutex(Programs())

    /// The query of a literal.
    func literal(_ pieces: [UInt], for type: any QueryValue.Type) throws(QuerySyntaxError) -> QueryCore {
        let key = LiteralTable.Key(type: ObjectIdentifier(type), pieces: pieces)
        if let plan = LiteralTable.shared.plan(key) { return QueryCore(plan: plan, binding: nil) }
        if let known = programs.withLock({ $0.literals[key] }) { return QueryCore(known) }
        let program = try QueryCache.compile(QueryCache.text(pieces), for: type, interning: true)
        return programs.withLock { programs in
            // Another thread may have been faster.
            if let plan = LiteralTable.shared.plan(key) { return QueryCore(plan: plan, binding: nil) }
            if programs.literalCount < LiteralTable.capacity {
                LiteralTable.shared.add(key, program, number: programs.literalCount)
                programs.literalCount += 1
                return QueryCore(plan: program.plan, binding: nil)
            }
            if programs.literals.count >= QueryCache.capacity { programs.literals.removeAll() }
            programs.literals[key] = program
            return QueryCore(program)
        }
    }

    /// The text of a literal, with ``QueryParser/hole`` for each value.
    private static func text(_ pieces: [UInt]) -> [UInt8] {
        var text: [UInt8] = []
        for place in stride(from: 0, to: pieces.count, by: 2) {
            if let start = UnsafePointer<UInt8>(bitPattern: pieces[place]) {
                // A piece of a literal: part of the program, good forever.
                text.append(contentsOf: UnsafeBufferPointer(start: start, count: Int(pieces[place + 1])))
            } else {
                text.append(QueryParser.hole)
            }
        }
        return text
    }

    func program(text: [UInt8], for type: any QueryValue.Type) throws(QuerySyntaxError) -> Program {
        let key = TextKey(type: ObjectIdentifier(type), text: text)
        if let known = programs.withLock({ $0.texts[key] }) { return known }
        let program = try QueryCache.compile(text, for: type, interning: false)
        programs.withLock { programs in
            if programs.texts.count >= QueryCache.capacity { programs.texts.removeAll() }
            programs.texts[key] = program
        }
        return program
    }

    private static func compile(
        _ bytes: [UInt8], for type: any QueryValue.Type, interning: Bool
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
