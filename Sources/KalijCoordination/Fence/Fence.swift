import KalijStore

import Glibc

/// The right to drive the accounts of a directory.
///
/// A row with a number and its owner is authoritative: each step checks the row in its own transaction, so no stale owner can
/// commit. The owner of number N also holds a lock on byte N of a file. The system releases the lock however the process dies, so
/// others can determine without a request whether the owner lives.
public final class Fence {
    /// The driver: this process, under its number.
    public let owner: FenceOwner
    private let lock: LockFile

    private init(owner: FenceOwner, lock: LockFile) {
        self.owner = owner
        self.lock = lock
    }

    /// The fence's table; the form never changes, because the table is read before migrations run.
    public static let schema = """
        CREATE TABLE IF NOT EXISTS fence(id INTEGER PRIMARY KEY CHECK (id = 1), number INTEGER NOT NULL,
            role TEXT NOT NULL, pid INTEGER NOT NULL, since INTEGER NOT NULL, let_go INTEGER NOT NULL)
        """

    /// Takes the fence of `database` if its last owner has released it or died. Raises the fence over an owner that the caller
    /// has given up.
    /// - Parameters:
    ///   - database: the accounts' database, with the ``schema``.
    ///   - role: the purpose of this process.
    ///   - abandoned: an owner that does not answer: the owner may live and hold its lock; its next step is refused.
    ///   - lockPath: the lock file, the same for all processes of the database.
    ///   - now: milliseconds since 1970.
    /// - Returns: the fence, and the owner before, if there was one.
    /// - Throws: `FenceError.held` if another process drives; `StoreError`.
    public static func take(
        in database: Database, lockPath: String, role: Role, now: Int64, over abandoned: FenceOwner? = nil
    ) throws -> (fence: Fence, previous: FenceOwner?) {
        let lock = try LockFile(path: lockPath)
        return try database.transaction {
            let previous = try read(database)
            if let previous, previous != abandoned, lock.isHeld(byte: previous.number) {
                throw FenceError.held(previous)
            }
            let number = (previous?.number ?? 0) + 1
            let owner = FenceOwner(number: number, role: role, pid: getpid(), since: now, letGo: false)
            guard lock.lock(byte: number) else { throw FenceError.held(owner) }
            try database.run(
                "INSERT OR REPLACE INTO fence VALUES (1, ?, ?, ?, ?, 0)",
                [.integer(number), .text(role.rawValue), .integer(Int64(owner.pid)), .integer(now)])
            return (Fence(owner: owner, lock: lock), previous)
        }
    }

    /// Throws `FenceError.stale` if another process has raised the fence; to be called inside each transaction.
    public func check(_ database: Database) throws {
        let now = try database.statement("SELECT number FROM fence").first { $0.integer() } ?? 0
        guard now == owner.number else { throw FenceError.stale(mine: owner.number, now: now) }
    }

    /// Releases the fence after all work has ended in order: the next owner need not be careful.
    /// - Throws: `StoreError`; the fence is released all the same, as if this process had died, and the next owner is careful.
    public func letGo(_ database: Database) throws {
        defer { lock.unlock(byte: owner.number) }
        try database.run("UPDATE fence SET let_go = 1 WHERE number = ?", [.integer(owner.number)])
    }

    /// The present driver: the last owner, if alive.
    public static func current(in database: Database, lockPath: String) throws -> FenceOwner? {
        guard let lock = try LockFile(reading: lockPath), let owner = try read(database) else { return nil }
        return lock.isHeld(byte: owner.number) ? owner : nil
    }

    /// Whether the last owner has released the fence in order; true if there was none.
    public static func wasLetGo(in database: Database) throws -> Bool { try read(database)?.letGo ?? true }

    private static func read(_ database: Database) throws -> FenceOwner? {
        try database.prepare("SELECT number, role, pid, since, let_go FROM fence").first { row in
            FenceOwner(
                number: row.integer("number"), role: Role(rawValue: row.text("role")) ?? .main,
                pid: Int32(truncatingIfNeeded: row.integer("pid")), since: row.integer("since"),
                letGo: row.bool("let_go"))
        }
    }
}
