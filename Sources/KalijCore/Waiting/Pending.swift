import KalijStore

/// Lists waiting handlers; does not block on a running process.
public struct PendingReader {
    private let database: Database
    private let clock: Clock

    /// Reads the waiting handlers in `database`.
    /// - Parameters:
    ///   - database: the database to read.
    ///   - clock: the source of time.
    public init(_ database: Database, clock: Clock = .system) {
        self.database = database
        self.clock = clock
    }

    /// A waiting handler.
    public struct Pending: Sendable {
        /// The source of the input.
        public let origin: DeadLetter.Origin
        /// The account's bare address.
        public let account: String
        /// The handler's name.
        public let handler: String
        /// The request's id, or the number of the timer or the promise.
        public let id: String
        /// The address to which the request was sent; nil for timers and promises.
        public let responder: String?
        /// The time of the request, in milliseconds since 1970; nil for timers and promises.
        public let since: Int64?
        /// The time of the timeout or of the call, in milliseconds since 1970.
        public let until: Int64

        fileprivate func moved(by milliseconds: Int64) -> Pending {
            Pending(
                origin: origin, account: account, handler: handler, id: id, responder: responder,
                since: since.map { SteadyTime.sum($0, milliseconds) }, until: SteadyTime.sum(until, milliseconds))
        }
    }

    /// All waiting handlers, ordered by the time of timeout or call.
    /// - Parameter limit: the most handlers of each kind.
    public func all(limit: Int = 1000) throws -> [Pending] {
        let accounts = try database.statement("SELECT id FROM account").all { $0.integer() }
        let all = try accounts.flatMap { try ofAccount([.integer($0), .integer(Int64(limit))]) }
        return all.sorted { $0.until < $1.until }
    }

    /// - Parameter values: the account, and the most handlers of each kind.
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
        // Stored moments are in steady time, and the clock may differ.
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
