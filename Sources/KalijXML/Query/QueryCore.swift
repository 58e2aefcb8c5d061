/// A query without its type: the plan, and the memory to keep.
///
/// A query without bound values in the program's text keeps nothing, because its program stays forever: such a query
/// is passed around and run without counting a reference.
@frozen
@usableFromInline
struct QueryCore: @unchecked Sendable {
    // Sendable because a plan never changes. Its program stays forever, or `binding` keeps the program.
    @usableFromInline let plan: UnsafePointer<QueryPlan>
    @usableFromInline let binding: QueryBinding?

    @usableFromInline
    init(plan: UnsafePointer<QueryPlan>, binding: QueryBinding?) {
        self.plan = plan
        self.binding = binding
    }

    /// A program that may be freed, and the values of its filters.
    init(_ program: Program, interpolations: [String] = [], arguments: [String] = []) {
        self.init(
            plan: program.plan,
            binding: QueryBinding(program, interpolations: interpolations, arguments: arguments))
    }

    /// Any literal; the pieces are as in ``LiteralTable/Key``.
    fileprivate init(literal pieces: [UInt], for type: any QueryValue.Type) {
        do {
            self = try QueryCache.shared.literal(pieces, for: type)
        } catch {
            // traps: a mistake in the program's own text; a precondition would lose the message in a release build.
            fatalError("\(error)")
        }
    }

    /// A literal with values between its pieces.
    @usableFromInline
    init(_ pieces: QueryPieces, for type: any QueryValue.Type) {
        var pieces = pieces
        if pieces.places.isEmpty { pieces.append("" as StaticString) }
        let literal = QueryCore(literal: pieces.places, for: type)
        self.init(literal.program, interpolations: pieces.values)
    }

    var program: Program { plan.pointee.program.takeUnretainedValue() }

    /// The same query with values for its `%` specifiers.
    @usableFromInline
    func bound(to arguments: [any QueryArgument]) -> QueryCore {
        let bound = QueryCore(
            program, interpolations: binding?.interpolations ?? [],
            arguments: (binding?.arguments ?? []) + arguments.map(\.queryText))
        bound.checkArguments()
        return bound
    }

    /// The values of the filters.
    func values() -> UnsafePointer<UnsafeRawBufferPointer>? {
        guard plan.pointee.takesValues else { return nil }
        checkArguments()
        return binding?.values
    }

    private func checkArguments() {
        let count = binding?.arguments.count ?? 0
        if program.arguments == count { return }
        // traps: a mistake in the program's own text; a query from text binds its own arguments.
        fatalError("query \"\(program.source)\" takes \(program.arguments) arguments, not \(count)")
    }
}

/// The query of a literal in one piece, given by its address and length. (Not an initializer: an initializer takes a
/// parameter at the cost of a call.)
@usableFromInline
func literalCore(_ start: UInt, _ length: UInt, _ type: any QueryValue.Type) -> QueryCore {
    if let plan = LiteralTable.shared.plan(start, length, ObjectIdentifier(type)) {
        return QueryCore(plan: plan, binding: nil)
    }
    return newLiteralCore(start, length, type)
}

@inline(never)
private func newLiteralCore(_ start: UInt, _ length: UInt, _ type: any QueryValue.Type) -> QueryCore {
    QueryCore(literal: [start, length], for: type)
}

/// The pieces of an interpolated query, as in ``LiteralTable/Key``, and the values between the pieces.
@usableFromInline
struct QueryPieces {
    private(set) var places: [UInt] = []
    private(set) var values: [String] = []

    @usableFromInline
    init(_ count: Int) {
        places.reserveCapacity(4 * count + 2)
        values.reserveCapacity(count)
    }

    @usableFromInline
    mutating func append(_ literal: StaticString) {
        places.append(UInt(bitPattern: literal.utf8Start))
        places.append(UInt(bitPattern: literal.utf8CodeUnitCount))
    }

    @usableFromInline
    mutating func append(_ value: String) {
        places.append(0)
        places.append(0)
        values.append(value)
    }
}

/// Keeps a program, and values for its filters.
// Sendable because nothing changes after `init`; the memory is freed with the last reference.
@usableFromInline
final class QueryBinding: @unchecked Sendable {
    let program: Program
    let interpolations: [String]
    let arguments: [String]
    /// The bytes of the interpolated values and then of the arguments, good while the binding lives.
    let values: UnsafePointer<UnsafeRawBufferPointer>?

    init(_ program: Program, interpolations: [String], arguments: [String]) {
        self.program = program
        self.interpolations = interpolations
        self.arguments = arguments
        values = QueryBinding.flatten(interpolations + arguments)
    }

    /// One block: the place of each value, and then the bytes.
    private static func flatten(_ strings: [String]) -> UnsafePointer<UnsafeRawBufferPointer>? {
        if strings.isEmpty { return nil }
        let header = strings.count * MemoryLayout<UnsafeRawBufferPointer>.stride
        let size = strings.reduce(header) { $0 + $1.utf8.count }
        let block = UnsafeMutableRawPointer.allocate(
            byteCount: size, alignment: MemoryLayout<UnsafeRawBufferPointer>.alignment)
        let places = block.bindMemory(to: UnsafeRawBufferPointer.self, capacity: strings.count)
        var end = block + header
        for (place, string) in strings.enumerated() {
            let bytes = UnsafeMutableRawBufferPointer(start: end, count: string.utf8.count)
            bytes.copyBytes(from: string.utf8)
            (places + place).initialize(to: UnsafeRawBufferPointer(bytes))
            end += bytes.count
        }
        return UnsafePointer(places)
    }

    deinit { values?.deallocate() }
}
