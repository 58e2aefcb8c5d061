import KalijStore

/// Something that a process commits for whoever drives next to take over: it waits in the mailbox for as long as it takes.
public struct Parcel: Sendable, Equatable {
    /// The row: numbers grow, and are never given twice in the same mailbox.
    public let id: Int64
    /// Whom it is from: the account.
    public let sender: String
    /// What it is.
    public let name: String
    /// What is in it, in the form that its name stands for.
    public let payload: [UInt8]
    /// When it was committed, in milliseconds since 1970.
    public let at: Int64
}

/// The parcels of a directory, in the mailbox: nobody who commits one waits for a writer of the accounts' database.
///
/// Whoever drives takes them over in order, in a transaction of the other database that also writes down the number of the last
/// one (``Place``), and removes them here once that one can no longer be forgotten. So each is taken over exactly once, whenever a
/// process dies or the machine loses power.
public final class ParcelShelf {
    /// How far the parcels of a mailbox were taken over: a value for the other database.
    public struct Place: Sendable, Equatable {
        /// Which mailbox; one that was lost and made anew counts from the begin.
        public let mailbox: String
        /// The last one that was taken over; 0 is none.
        public let last: Int64

        /// As it was read from the other database.
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

    /// Whether the mailbox is still in its place: one that was damaged is set aside, and what was left in it since then is to be left
    /// once more. What was left before is found there.
    public var isInPlace: Bool { file != nil && file == FileIdentity(database.path) }

    /// Opens the mailbox of `directory`, which exists, to leave something; creates it if need be.
    public convenience init(directory: String) throws { self.init(try Mailbox.open(directory, .machine)) }

    /// Opens the mailbox of `directory` for reading only; nil if there is none yet.
    public convenience init?(reading directory: String) throws {
        guard let database = try Mailbox.read(directory) else { return nil }
        self.init(database)
    }

    /// Commits a parcel; not for ``Mailbox/shelf``, which does not sync. Once this returns, it is on the disk. Ring the driver's ``Doorbell`` around it.
    /// - Throws: `StoreError`; then nothing was left.
    public func add(_ name: String, _ payload: [UInt8], from sender: String, now: Int64) throws -> Parcel {
        try Mailbox.unblocking(database) {
            try database.run(
                "INSERT INTO parcel(sender, name, payload, at) VALUES (?, ?, ?, ?)",
                [.text(sender), .text(name), .blob(payload), .integer(now)])
            return Parcel(id: database.lastInsertedRow, sender: sender, name: name, payload: payload, at: now)
        }
    }

    /// Puts in a parcel of another mailbox, under a number of this one.
    func insert(_ parcel: Parcel) throws {
        try database.run(
            "INSERT INTO parcel(sender, name, payload, at) VALUES (?, ?, ?, ?)",
            [.text(parcel.sender), .text(parcel.name), .blob(parcel.payload), .integer(parcel.at)])
    }

    /// Reads what can be read, from one end on until it cannot.
    func each(after last: Int64, forward: Bool, _ body: (Parcel) -> Void) {
        let statement: StaticString =
            forward
            ? "SELECT id, sender, name, payload, at FROM parcel WHERE id > ? ORDER BY id"
            : "SELECT id, sender, name, payload, at FROM parcel WHERE id > ? ORDER BY id DESC"
        try? database.statement(statement).each([.integer(last)]) { row in
            body(
                Parcel(
                    id: row.integer("id"), sender: row.text("sender"), name: row.text("name"),
                    payload: row.blob("payload"),
                    at: row.integer("at")))
        }
    }

    /// The number of the last one that was removed, as far as can be told.
    func firstRemaining() throws -> Int64? {
        try database.prepare("SELECT min(id) - 1 FROM parcel").first { $0.optionalInteger() } ?? nil
    }

    /// Which mailbox this is, for a ``Place``.
    public func name() throws -> String {
        try database.statement("SELECT name FROM shelf").first { $0.text() } ?? ""
    }

    /// How far the parcels were taken over, according to what was written down last in the other database.
    /// - Returns: the number of the last one.
    public func last(_ place: Place?) throws -> Int64 {
        guard let place, try place.mailbox == name() else { return 0 }
        return place.last
    }

    /// Whether there is a parcel behind the one with the number `last`.
    public func hasParcels(after last: Int64) throws -> Bool {
        try database.statement("SELECT 1 FROM parcel WHERE id > ? LIMIT 1").first([.integer(last)]) { _ in true }
            ?? false
    }

    /// Whether there is one up to the number `last`.
    public func hasParcels(through last: Int64) throws -> Bool {
        try database.statement("SELECT 1 FROM parcel WHERE id <= ? LIMIT 1").first([.integer(last)]) { _ in true }
            ?? false
    }

    /// The parcels behind the one with the number `last`, oldest first.
    public func parcels(after last: Int64, limit: Int = .max) throws -> [Parcel] {
        try database.statement(
            "SELECT id, sender, name, payload, at FROM parcel WHERE id > ? ORDER BY id LIMIT ?"
        ).all([.integer(last), .integer(Int64(limit))]) { row in
            Parcel(
                id: row.integer("id"), sender: row.text("sender"), name: row.text("name"), payload: row.blob("payload"),
                at: row.integer("at"))
        }
    }

    /// The first ones up to the number `last` were taken over for good.
    public func remove(through last: Int64) throws {
        try Mailbox.unblocking(database) {
            try database.run("DELETE FROM parcel WHERE id <= ?", [.integer(last)])
        }
    }
}
