/// A table that has no row in most databases, so that looking something up in it finds nothing.
///
/// Whether it is empty is asked once in a transaction, in which nobody else can write. What inserts rows tells so
/// (``Database/run(_:_:into:)``).
package struct SparseTable: Sendable {
    fileprivate let anyRow: StaticString
    fileprivate var key: UInt { UInt(bitPattern: anyRow.utf8Start) }

    /// - Parameter anyRow: a statement with a row if the table has one, such as `SELECT 1 FROM room LIMIT 1`.
    package init(anyRow: StaticString) { self.anyRow = anyRow }

    fileprivate func isEmpty(in database: Database) throws -> Bool {
        try database.statement(anyRow).first { _ in true } == nil
    }
}

extension Database {
    /// Whether `table` has no row; false outside of a transaction, where another connection could write meanwhile.
    package func isKnownEmpty(_ table: SparseTable) throws -> Bool {
        guard knownTables.isOpen else { return false }
        if let isEmpty = knownTables.isEmpty(table) {
            // traps: in debug builds, on a statement of the program's own that inserts rows without saying so
            assert(
                !isEmpty || ((try? table.isEmpty(in: self)) ?? true),
                "\(table.anyRow) has a row that was inserted unnoticed")
            return isEmpty
        }
        let isEmpty = try table.isEmpty(in: self)
        knownTables.set(isEmpty, table)
        return isEmpty
    }

    /// Runs `sql` once with `values`; it may insert rows into `table`.
    package func run(_ sql: StaticString, _ values: [Value], into table: SparseTable) throws(StoreError) {
        knownTables.set(false, table)
        try run(sql, values)
    }
}

/// What is known of sparse tables in the open transaction.
package struct KnownTables {
    private(set) var isOpen = false
    private var known: [(key: UInt, isEmpty: Bool)] = []

    mutating func open() { (isOpen, known) = (true, []) }
    mutating func close() { (isOpen, known) = (false, []) }
    /// Something was undone: a table may have its deleted rows again.
    package mutating func forget() { known = [] }

    fileprivate func isEmpty(_ table: SparseTable) -> Bool? {
        for entry in known where entry.key == table.key { return entry.isEmpty }
        return nil
    }

    fileprivate mutating func set(_ isEmpty: Bool, _ table: SparseTable) {
        guard isOpen else { return }
        known.removeAll { $0.key == table.key }
        known.append((table.key, isEmpty))
    }
}
