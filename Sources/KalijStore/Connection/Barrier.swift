/// Makes everything that was committed so far survive the death of the machine.
///
/// A commit of a ``Database/Durability/process`` connection survives the process only. Before anything is told to the
/// world that must not be forgotten, ``raise()`` commits an ever-growing number through a connection of its own that
/// syncs: one sync covers all earlier commits of all connections, because they share one write-ahead log.
public final class Barrier {
    private let database: Database

    /// A barrier on the database at `path`, whose schema has ``schema``.
    public init(path: String) throws(StoreError) {
        database = try Database(path: path, durability: .machine)
    }

    /// The table a barrier needs.
    public static let schema = "CREATE TABLE barrier(id INTEGER PRIMARY KEY CHECK (id = 1), number INTEGER NOT NULL)"

    /// Returns once every earlier commit is on the disk.
    /// - Throws: `StoreError`; then nothing may be claimed of the commits since the last barrier.
    public func raise() throws(StoreError) {
        try database.run(
            "INSERT INTO barrier VALUES (1, 1) ON CONFLICT (id) DO UPDATE SET number = number + 1")
    }
}
