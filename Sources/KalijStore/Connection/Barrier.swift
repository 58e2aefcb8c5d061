/// Makes all earlier commits survive the death of the machine.
///
/// A commit of a ``Database/Durability/process`` connection survives the process only. Before an effect leaves the machine that
/// must not be forgotten, ``raise()`` commits an ever-growing number with a sync: one sync covers all earlier commits of all
/// connections, because they share one write-ahead log.
///
/// The barrier uses the connection of the commits. A separate connection would change the database from outside: after
/// each barrier the other connection would have to read every page again (measured: a third of a catch-up's CPU time).
public final class Barrier {
    private let database: Database

    /// A barrier on `database`; the schema contains ``schema``.
    public init(_ database: Database) { self.database = database }

    /// The table a barrier needs.
    public static let schema = "CREATE TABLE barrier(id INTEGER PRIMARY KEY CHECK (id = 1), number INTEGER NOT NULL)"

    /// Returns once every earlier commit is on the disk. Not to be called within a transaction.
    /// - Throws: `StoreError`; then the commits since the last barrier may still be lost.
    public func raise() throws(StoreError) {
        // A commit without a change would not sync.
        try database.durably { () throws(StoreError) in
            try database.run(
                "INSERT INTO barrier VALUES (1, 1) ON CONFLICT (id) DO UPDATE SET number = number + 1")
        }
    }
}
