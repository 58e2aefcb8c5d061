/// A table that has no row in most databases, so that looking something up in it finds nothing.
///
/// Whether it is empty is asked once in a transaction, in which nobody else can write. What inserts rows tells so
/// (``Database/run(_:_:into:)``).
public struct SparseTable: Sendable {
    fileprivate let anyRow: StaticString
    fileprivate var key: UInt { UInt(bitPattern: anyRow.utf8Start) }

    /// - Parameter anyRow: a statement with a row if the table has one, such as `SELECT 1 FROM room LIMIT 1`.
    public init(anyRow: StaticString) { self.anyRow = anyRow }
}

extension Database {
    /// Whether `table` has no row; false outside of a transaction, where another connection could write meanwhile.
    public func isKnownEmpty(_ table: SparseTable) throws(StoreError) -> Bool {
        guard knownTables.isOpen else { return false }
        if let isEmpty = knownTables.isEmpty(table) {
            assert(!isEmpty || ((try? look(table)) ?? true), "\(table.anyRow) has a row that was inserted unnoticed")
            return isEmpty
        }
        let isEmpty = try look(table)
        knownTables.set(isEmpty, table)
        return isEmpty
    }

    /// Runs `sql` once with `values`; it may insert rows into `table`.
    public func run(_ sql: StaticString, _ values: [Value], into table: SparseTable) throws(StoreError) {
        knownTables.set(false, table)
        try run(sql, values)
    }

    private func look(_ table: SparseTable) throws(StoreError) -> Bool {
        do { return try statement(table.anyRow).first { _ in true } == nil } catch let error as StoreError {
            throw error
        } catch { return false }
    }
}

/// What is known of sparse tables in the open transaction.
struct KnownTables {
    private(set) var isOpen = false
    private var known: [(key: UInt, isEmpty: Bool)] = []

    mutating func open() { (isOpen, known) = (true, []) }
    mutating func close() { (isOpen, known) = (false, []) }
    /// Something was undone: a table may have its deleted rows again.
    mutating func forget() { known = [] }

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
