import KalijStore

import Glibc

/// Messages between the processes of a directory: rows of a small database of its own, so that no writer of a message waits for a
/// writer of the accounts' database.
///
/// Each ``MailboxMessage`` is received at most once, by the process that was the last to announce itself for the address
/// (``announce(_:number:)``), and expires if nobody takes it. A writer connects to the receiver's ``Doorbell`` before its commit,
/// and checks in its transaction that this process is still the receiver. So the receiver of a committed letter gets a signal
/// when the connection closes, also by the writer's death, or has found the letter before. `Documentation/Models` proves this.
public final class Mailbox {
    private let database: Database
    private let directory: String
    private let signals: any Signals
    /// The damaged mailbox found in this place before, if there was one.
    public var damage: MailboxDamage?
    /// Times ``busyTimeout`` for another writer.
    private var attempts: Int

    /// Opens the mailbox of `directory`; creates the mailbox if missing. The directory exists.
    /// - Parameters:
    ///   - directory: the path.
    ///   - signals: how receivers are signalled.
    ///   - busySeconds: how long to wait for another writing process before throwing.
    public init(
        directory: String, signals: any Signals = Platform.linux.signals, busySeconds: Double = 10
    ) throws {
        self.directory = directory
        self.signals = signals
        attempts = max(1, Int(busySeconds / Self.busyTimeout))  // traps: a program's own number of seconds
        database = try Self.open(directory, .process, attempts: attempts)
    }

    private static let schema = Schema(
        applicationID: 0x4B61_6D62, migrations: [Migration("mailbox/1", version: 1, version1)])

    static func open(
        _ directory: String, _ durability: Database.Durability, attempts: Int = 10
    ) throws -> Database {
        try whileInPlace(directory) { try openLocked(directory, durability, attempts: attempts) }
    }

    /// Opens the mailbox; the caller's lock keeps others from setting the mailbox aside.
    static func openLocked(
        _ directory: String, _ durability: Database.Durability, attempts: Int = 10
    ) throws -> Database {
        let path = databasePath(in: directory)
        // A process frozen while closing the database keeps others from opening.
        return try unblocking(path, attempts: attempts) {
            let database = try Database(path: path, durability: durability, busySeconds: busyTimeout)
            if try schema.state(of: database) != .current { try schema.migrate(database) }
            return database
        }
    }

    /// Makes an empty mailbox, and closes it.
    static func make(at path: String) throws {
        let database = try Database(path: path, durability: .process)
        try schema.migrate(database)
        try database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    }

    static func read(_ directory: String) throws -> Database? {
        guard let (database, state) = try schema.open(reading: databasePath(in: directory)), state == .current else {
            return nil
        }
        return database
    }

    /// Seconds for another writer; a writer normally takes milliseconds.
    private static let busyTimeout = 1.0

    /// Runs `body`, which writes. A writer frozen within its transaction is killed: nobody else could write until then.
    /// A slow writer is waited for.
    static func unblocking<Result>(
        _ database: Database, attempts: Int = 10, _ body: () throws -> Result
    ) throws -> Result {
        try unblocking(database.path, attempts: attempts, body)
    }

    private static func unblocking<Result>(_ path: String, attempts: Int, _ body: () throws -> Result) throws -> Result
    {
        for _ in 0..<attempts {
            do {
                return try body()
            } catch let error as StoreError where error.code == .busy {
                _ = FrozenWriter.kill(database: path, ifStopped: true)
            }
        }
        return try body()
    }

    /// The mailbox's database in `directory`.
    public static func databasePath(in directory: String) -> String { directory + "/mailbox.db" }

    /// Changes how long to wait for another writing process before throwing.
    public func wait(atMost seconds: Double) {
        // A frozen writer is killed after half of a short time, and one attempt is left.
        let each = min(Self.busyTimeout, seconds / 2)
        attempts = max(1, Int(seconds / each) - 1)  // traps: a program's own number of seconds, not 0
        database.wait(atMost: each)
    }

    /// Throws if the content cannot be read: reads from each table, at the same cost for any number of rows.
    public func check() throws {
        let looks: [StaticString] = [
            "SELECT number FROM receiver LIMIT 1", "SELECT id FROM letter LIMIT 1", "SELECT letter FROM reply LIMIT 1",
            "SELECT id FROM parcel WHERE id > 0 LIMIT 1", "SELECT name FROM shelf LIMIT 1",
        ]
        for look in looks { _ = try database.statement(look).first { _ in true } }
    }

    /// Waits until nobody else is within a writing transaction.
    /// - Throws: `StoreError.busy` if another process is for longer than a second.
    public func awaitWriters() throws {
        try database.transaction {}
    }

    private static let version1 = """
        -- Who receives for an address: numbers grow, and are never given twice.
        CREATE TABLE receiver(address TEXT PRIMARY KEY, number INTEGER NOT NULL) WITHOUT ROWID;
        CREATE TABLE letter(
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            address TEXT NOT NULL,
            role TEXT NOT NULL,             -- the sender's
            pid INTEGER NOT NULL,
            name TEXT NOT NULL,
            payload BLOB NOT NULL,
            expires INTEGER NOT NULL,       -- milliseconds since 1970
            reply_by INTEGER);
        CREATE INDEX letter_address ON letter(address, id);
        CREATE TABLE reply(letter INTEGER PRIMARY KEY, payload BLOB NOT NULL, expires INTEGER NOT NULL);
        -- What waits for whoever drives next; numbers grow, and are never given twice.
        CREATE TABLE parcel(
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            sender TEXT NOT NULL,
            name TEXT NOT NULL,
            payload BLOB NOT NULL,
            at INTEGER NOT NULL);           -- milliseconds since 1970
        -- Tells this mailbox from one that is made anew in its place.
        CREATE TABLE shelf(name TEXT NOT NULL);
        INSERT INTO shelf VALUES (lower(hex(randomblob(16))));
        """

    /// The parcels for the driver, over the same connection: for taking over, not for adding.
    public var parcels: MailboxQueue { MailboxQueue(database) }

    // MARK: Receiving

    /// Announces this process as the receiver for `address` from now on, under a number higher than those before. The process
    /// listens there already (``Doorbell/Listener``), and takes letters (``receive(_:as:now:)``) afterwards.
    public func announce(_ address: Address, number: Int64) throws {
        try Self.unblocking(database, attempts: attempts) {
            try database.run(
                """
                INSERT INTO receiver VALUES (?1, ?2)
                ON CONFLICT (address) DO UPDATE SET number = excluded.number WHERE number < excluded.number
                """, [.text(address.name), .integer(number)])
        }
    }

    /// Takes the letters for `address`, oldest first; none if another process has announced itself since.
    /// - Parameters:
    ///   - address: the address of the letters.
    ///   - number: the announced number.
    ///   - now: milliseconds since 1970; letters expired by then are deleted.
    public func receive(_ address: Address, as number: Int64, now: Int64) throws -> [MailboxMessage] {
        // Most signals are for something else; this query then saves a write.
        let waits = try database.statement("SELECT 1 FROM letter WHERE address = ? LIMIT 1")
            .first([.text(address.name)]) { _ in true }
        guard waits ?? false else { return [] }
        return try transaction { try dequeue(address, as: number, now: now) }
    }

    /// Ends receiving, unless letters wait.
    /// - Returns: the remaining letters: if there are any, this process remains the receiver and has to handle the letters.
    public func withdraw(_ address: Address, as number: Int64, now: Int64) throws -> [MailboxMessage] {
        try transaction {
            let letters = try dequeue(address, as: number, now: now)
            if letters.isEmpty {
                try database.run(
                    "DELETE FROM receiver WHERE address = ? AND number = ?", [.text(address.name), .integer(number)])
            }
            return letters
        }
    }

    private func dequeue(_ address: Address, as number: Int64, now: Int64) throws -> [MailboxMessage] {
        guard try receiver(of: address) == number else { return [] }
        try database.run("DELETE FROM letter WHERE expires <= ?", [.integer(now)])
        try database.run("DELETE FROM reply WHERE expires <= ?", [.integer(now)])
        let letters = try database.statement(
            "SELECT id, role, pid, name, payload, reply_by FROM letter WHERE address = ? ORDER BY id"
        ).all([.text(address.name)]) { row in
            MailboxMessage(
                id: row.integer("id"), role: Role(rawValue: row.text("role")) ?? .share,
                pid: Int32(truncatingIfNeeded: row.integer("pid")), name: row.text("name"),
                payload: row.blob("payload"),
                replyBy: row.optionalInteger("reply_by"))
        }
        try database.run("DELETE FROM letter WHERE address = ?", [.text(address.name)])
        return letters
    }

    private func receiver(of address: Address) throws -> Int64? {
        try database.statement("SELECT number FROM receiver WHERE address = ?").first([.text(address.name)]) {
            $0.integer()
        }
    }

    /// Replies to `letter`; the end of the connection notifies the sender. Does nothing if the sender no longer waits.
    public func reply(to letter: MailboxMessage, _ payload: [UInt8], now: Int64) throws {
        guard let replyBy = letter.replyBy, replyBy > now else { return }
        try Self.unblocking(database, attempts: attempts) {
            try database.run(
                "INSERT OR REPLACE INTO reply VALUES (?, ?, ?)",
                [.integer(letter.id), .blob(payload), .integer(replyBy)])
        }
    }

    // MARK: Sending

    /// Stores a letter for the receiver at `address`.
    /// - Parameters:
    ///   - message: the content and limits of the letter.
    ///   - address: the receiver.
    ///   - role: the sender's.
    ///   - now: milliseconds since 1970.
    /// - Returns: the sent letter; signals when freed, or when this process dies. Nil if there is no receiver: then nothing was stored.
    /// - Throws: `StoreError`.
    public func send(_ message: MailboxRequest, to address: Address, from role: Role, now: Int64) throws -> Sent? {
        // The receiver can change between the query and the connection, but not forever.
        for _ in 0..<16 {
            guard let number = try receiver(of: address),
                let bell = signals.bell(directory: directory, at: address)
            else { return nil }
            let id = try transaction { () -> Int64? in
                guard try receiver(of: address) == number else { return nil }
                return try insert(message, to: address, from: role, now: now)
            }
            if let id { return Sent(id: id, bell: bell) }
        }
        return nil
    }

    private func insert(_ message: MailboxRequest, to address: Address, from role: Role, now: Int64) throws -> Int64 {
        try database.run(
            """
            INSERT INTO letter(address, role, pid, name, payload, expires, reply_by) VALUES (?, ?, ?, ?, ?, ?, ?)
            """,
            [
                .text(address.name), .text(role.rawValue), .integer(Int64(getpid())), .text(message.name),
                .blob(message.payload), .integer(Self.sum(now, message.lifetime)),
                .optional(message.replyWithin.map { Self.sum(now, $0) }),
            ])
        return database.lastInsertedRow
    }

    private static func sum(_ now: Int64, _ milliseconds: Int64) -> Int64 {
        let (sum, overflow) = now.addingReportingOverflow(milliseconds)
        return overflow ? .max : sum
    }

    /// A letter that was sent, with the connection to its receiver.
    public struct Sent {
        /// The row.
        public let id: Int64
        /// Signals the receiver to take the letter, and reports that the receiver has replied or no longer exists.
        public let bell: any DoorbellConnection
    }

    /// Signals, and waits until the receiver has replied or hung up.
    /// - Returns: the reply; nil if there is none within `seconds`, or the receiver no longer exists.
    public func reply(to sent: Sent, within seconds: Double) throws -> [UInt8]? {
        sent.bell.ring()
        sent.bell.awaitHangUp(within: seconds)
        return try takeReply(to: sent)
    }

    /// The reply, once the receiver has hung up; nil if there is none.
    public func takeReply(to sent: Sent) throws -> [UInt8]? {
        try Self.unblocking(database, attempts: attempts) {
            try database.statement("DELETE FROM reply WHERE letter = ? RETURNING payload")
                .first([.integer(sent.id)]) { $0.blob() }
        }
    }

    /// Takes a letter back.
    /// - Returns: false if already received.
    public func takeBack(_ sent: Sent) throws -> Bool {
        try Self.unblocking(database, attempts: attempts) {
            try database.run("DELETE FROM letter WHERE id = ?", [.integer(sent.id)])
            return database.changes > 0
        }
    }

    private func transaction<Result>(_ body: () throws -> Result) throws -> Result {
        try Self.unblocking(database, attempts: attempts) { try database.transaction(body) }
    }
}
