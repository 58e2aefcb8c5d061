import KalijStore

/// Content committed by a process for the next driver: a parcel waits in the mailbox for any length of time.
public struct QueuedItem: Sendable, Equatable {
    /// The row: numbers grow, and are never given twice in the same mailbox.
    public let id: Int64
    /// The sender: the account.
    public let sender: String
    /// The kind of the parcel.
    public let name: String
    /// The content, in the form of the kind.
    public let payload: [UInt8]
    /// The time of the commit, in milliseconds since 1970.
    public let at: Int64
}

/// The parcels of a directory, in the mailbox: nobody committing a parcel waits for a writer of the accounts' database.
///
/// The driver takes parcels over in order, in a transaction of the other database that also writes the number of the
/// last parcel (``Progress``). The driver removes parcels here once that number can no longer be lost. So each parcel is
/// taken over exactly once, whenever a process dies or the machine loses power.
public final class MailboxQueue {
    /// How far the parcels of a mailbox were taken over: a value for the other database.
    public struct Progress: Sendable, Equatable {
        /// The name of the mailbox; a new mailbox, made after a loss, counts from the beginning.
        public let mailbox: String
        /// The last parcel taken over; 0 for none.
        public let last: Int64

        /// A place read from the other database.
        public init(mailbox: String, last: Int64) {
            self.mailbox = mailbox
            self.last = last
        }
    }

    private let database: Database
    private let file: FileIdentity?

    init(_ database: Database) {
        self.database = database
        file = FileIdentity(database.path)
    }

    /// Whether the mailbox is still in its place: a damaged mailbox is set aside, and parcels added since then have to
    /// be added once more. Parcels added before are found by the salvage.
    public var isInPlace: Bool { file != nil && file == FileIdentity(database.path) }

    /// Opens the mailbox of `directory` for adding parcels; creates the mailbox if missing. The directory exists.
    public convenience init(directory: String) throws { self.init(try Mailbox.open(directory, .machine)) }

    /// Opens the mailbox of `directory` for reading only; nil if there is none yet.
    public convenience init?(reading directory: String) throws {
        guard let database = try Mailbox.read(directory) else { return nil }
        self.init(database)
    }

    /// Commits a parcel; not for ``Mailbox/parcels``, which does not sync. When this function returns, the parcel is on the disk.
    /// Signal the driver's ``Doorbell`` around the call.
    /// - Throws: `StoreError`; then nothing was left.
    public func add(_ name: String, _ payload: [UInt8], from sender: String, now: Int64) throws -> QueuedItem {
        try Mailbox.unblocking(database) {
            try database.run(
                "INSERT INTO parcel(sender, name, payload, at) VALUES (?, ?, ?, ?)",
                [.text(sender), .text(name), .blob(payload), .integer(now)])
            return QueuedItem(id: database.lastInsertedRow, sender: sender, name: name, payload: payload, at: now)
        }
    }

    /// Adds a parcel of another mailbox, under a number of this mailbox.
    func insert(_ parcel: QueuedItem) throws {
        try database.run(
            "INSERT INTO parcel(sender, name, payload, at) VALUES (?, ?, ?, ?)",
            [.text(parcel.sender), .text(parcel.name), .blob(parcel.payload), .integer(parcel.at)])
    }

    /// Reads parcels from one end on, until a row cannot be read.
    func each(after last: Int64, forward: Bool, _ body: (QueuedItem) -> Void) {
        let statement: StaticString =
            forward
            ? "SELECT id, sender, name, payload, at FROM parcel WHERE id > ? ORDER BY id"
            : "SELECT id, sender, name, payload, at FROM parcel WHERE id > ? ORDER BY id DESC"
        try? database.statement(statement).each([.integer(last)]) { row in
            body(
                QueuedItem(
                    id: row.integer("id"), sender: row.text("sender"), name: row.text("name"),
                    payload: row.blob("payload"),
                    at: row.integer("at")))
        }
    }

    /// The number of the last removed parcel, as far as it can be determined.
    func firstRemaining() throws -> Int64? {
        try database.prepare("SELECT min(id) - 1 FROM parcel").first { $0.optionalInteger() } ?? nil
    }

    /// The name of this mailbox, for a ``Progress``.
    public func name() throws -> String {
        try database.statement("SELECT name FROM shelf").first { $0.text() } ?? ""
    }

    /// How far the parcels were taken over, according to the last place in the other database.
    /// - Returns: the number of the last parcel.
    public func last(_ place: Progress?) throws -> Int64 {
        guard let place, try place.mailbox == name() else { return 0 }
        return place.last
    }

    /// Whether there is a parcel after the number `last`.
    public func hasParcels(after last: Int64) throws -> Bool {
        try database.statement("SELECT 1 FROM parcel WHERE id > ? LIMIT 1").first([.integer(last)]) { _ in true }
            ?? false
    }

    /// Whether there is a parcel up to the number `last`.
    public func hasParcels(through last: Int64) throws -> Bool {
        try database.statement("SELECT 1 FROM parcel WHERE id <= ? LIMIT 1").first([.integer(last)]) { _ in true }
            ?? false
    }

    /// The parcels after the number `last`, oldest first.
    public func parcels(after last: Int64, limit: Int = .max) throws -> [QueuedItem] {
        try database.statement(
            "SELECT id, sender, name, payload, at FROM parcel WHERE id > ? ORDER BY id LIMIT ?"
        ).all([.integer(last), .integer(Int64(limit))]) { row in
            QueuedItem(
                id: row.integer("id"), sender: row.text("sender"), name: row.text("name"), payload: row.blob("payload"),
                at: row.integer("at"))
        }
    }

    /// Removes the parcels up to the number `last`, taken over for good.
    public func remove(through last: Int64) throws {
        try Mailbox.unblocking(database) {
            try database.run("DELETE FROM parcel WHERE id <= ?", [.integer(last)])
        }
    }
}
