import KalijStore

/// Lists what waits; never waits for a running process.
public struct PendingReader {
    private let database: Database
    private let clock: Clock

    /// Reads what is in `database`.
    /// - Parameters:
    ///   - database: what is read.
    ///   - clock: where time comes from.
    public init(_ database: Database, clock: Clock = .system) {
        self.database = database
        self.clock = clock
    }

    /// A handler that waits.
    public struct Pending: Sendable {
        /// What it waits for.
        public let origin: DeadLetter.Origin
        /// The account's bare address.
        public let account: String
        /// The handler's name.
        public let handler: String
        /// The request's id, or the number of the timer or the promise.
        public let id: String
        /// Who was asked; nil for timers and promises.
        public let responder: String?
        /// When it was asked, in milliseconds since 1970; nil for timers and promises.
        public let since: Int64?
        /// When it times out or is called, in milliseconds since 1970.
        public let until: Int64

        fileprivate func moved(by milliseconds: Int64) -> Pending {
            Pending(
                origin: origin, account: account, handler: handler, id: id, responder: responder,
                since: since.map { SteadyTime.sum($0, milliseconds) }, until: SteadyTime.sum(until, milliseconds))
        }
    }

    /// Everything that waits, what is due first at the top.
    /// - Parameter limit: at most so many of each kind.
    public func all(limit: Int = 1000) throws -> [Pending] {
        let accounts = try database.statement("SELECT id FROM account").all { $0.integer() }
        let all = try accounts.flatMap { try ofAccount([.integer($0), .integer(Int64(limit))]) }
        return all.sorted { $0.until < $1.until }
    }

    /// - Parameter values: the account, and how many of each kind at most.
    private func ofAccount(_ values: [Value]) throws -> [Pending] {
        let requests = try database.statement(
            """
            SELECT a.jid, r.name, r.id, CASE r.responder WHEN '' THEN a.jid ELSE r.responder END AS responder, r.asked_at, r.deadline
            FROM request r JOIN account a ON a.id = r.account WHERE r.account = ? ORDER BY r.deadline LIMIT ?
            """
        ).all(values) { row in
            Pending(
                origin: .request, account: row.text("jid"), handler: row.text("name"), id: row.text("id"),
                responder: row.text("responder"), since: row.integer("asked_at"), until: row.integer("deadline"))
        }
        let timers = try database.statement(
            """
            SELECT a.jid, t.name, t.id, t.at AS until FROM timer t JOIN account a ON a.id = t.account
            WHERE t.account = ? ORDER BY t.at LIMIT ?
            """
        ).all(values) { Self.pending(.timer, $0) }
        let promises = try database.statement(
            """
            SELECT a.jid, w.name, w.promise AS id, coalesce(p.until, 0) AS until FROM waiter w JOIN account a ON a.id = w.account
            LEFT JOIN promise p ON p.id = w.promise WHERE w.account = ? ORDER BY w.promise LIMIT ?
            """
        ).all(values) { Self.pending(.promise, $0) }
        // Stored are moments of the steady time, from which the clock may differ.
        let steady = try SteadyTime(reading: database, clock) ?? SteadyTime(clock)
        let difference = clock.now() &- steady.now
        return (requests + timers + promises).map { $0.moved(by: difference) }
    }

    private static func pending(_ origin: DeadLetter.Origin, _ row: Row) -> Pending {
        Pending(
            origin: origin, account: row.text("jid"), handler: row.text("name"), id: "\(row.integer("id"))",
            responder: nil,
            since: nil, until: row.integer("until"))
    }
}
