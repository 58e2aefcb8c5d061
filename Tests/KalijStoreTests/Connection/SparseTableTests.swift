import KalijStore
import TestSupport
import Testing

/// A table without rows is asked once in a transaction.
@Suite struct SparseTableTests {
    let directory = try? ScratchDirectory()

    private static let table = SparseTable(anyRow: "SELECT 1 FROM t LIMIT 1")

    private func database() throws -> Database {
        let database = try Database(
            path: try #require(directory).file("a.db"), durability: .process, busySeconds: 0.2)
        try database.execute("CREATE TABLE t(a)")
        return database
    }

    /// In a transaction of its own.
    private func isEmpty(_ database: Database) throws -> Bool {
        try database.transaction { try database.isKnownEmpty(Self.table) }
    }

    @Test("outside of a transaction nothing is known: another connection may write at any time")
    func outside() throws {
        let database = try database()
        #expect(try !database.isKnownEmpty(Self.table))
        #expect(try isEmpty(database))
        #expect(try !database.isKnownEmpty(Self.table))
    }

    @Test("a row inserted in the transaction is noticed, and rows of other transactions")
    func insertions() throws {
        let database = try database()
        try database.transaction {
            #expect(try database.isKnownEmpty(Self.table))
            try database.run("INSERT INTO t VALUES (?)", [.integer(1)], into: Self.table)
            #expect(try !database.isKnownEmpty(Self.table))
        }
        #expect(try !isEmpty(database))
        try database.run("DELETE FROM t")
        #expect(try isEmpty(database))
        let other = try Database(path: database.path, durability: .process)
        try other.run("INSERT INTO t VALUES (2)")
        #expect(try !isEmpty(database))
    }

    @Test("a deletion that is undone leaves the table with its rows")
    func undone() throws {
        let database = try database()
        try database.run("INSERT INTO t VALUES (1)")
        try database.transaction {
            try database.run("SAVEPOINT part")
            try database.run("DELETE FROM t")
            #expect(try database.isKnownEmpty(Self.table))
            database.knownTables.forget()
            try database.run("ROLLBACK TO part")
            #expect(try !database.isKnownEmpty(Self.table))
        }
        #expect(throws: StoreError.self) {
            try database.transaction {
                try database.run("DELETE FROM t")
                #expect(try database.isKnownEmpty(Self.table))
                throw StoreError(.corrupt, "on purpose")
            }
        }
        #expect(try !isEmpty(database))
    }
}
