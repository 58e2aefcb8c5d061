import KalijAddress
import KalijHandlers
import KalijStore
import KalijStream

/// The stored accounts.
public struct AccountTable {
    let database: Database
    /// The longest history that the first reading of the archive fetches, in days: a century.
    public static let longestHistory: Int64 = 36_525

    /// Reads the accounts in `database`, and writes them if the connection may.
    public init(_ database: Database) { self.database = database }

    /// All accounts, in the order in which they were added.
    public func all() throws -> [Account] {
        try database.prepare(
            """
            SELECT id, jid, resource, server, direct_tls, ca_file, mechanism, keys, password, state,
                history_days
            FROM account
            ORDER BY id
            """
        ).all { row in
            Account(
                id: row.integer("id"), jid: JID.received(row.text("jid")), resource: row.text("resource"),
                server: ServerSettings(
                    override: row.optionalText("server").flatMap(HostAndPort.init), directTLS: row.bool("direct_tls"),
                    caFile: row.optionalText("ca_file")),
                mechanism: try Self.mechanism(row.text("mechanism")),
                credentials: try Self.credentials(keys: row.optionalBlob("keys"), password: row.text("password")),
                state: Account.State(rawValue: row.text("state")) ?? .active,
                historyDays: min(max(0, row.integer("history_days")), Self.longestHistory))
        }
    }

    /// Stores an account after a login, or new credentials of a stored account.
    ///
    /// SCRAM keys are stored in the password's place where the mechanism has them.
    /// - Parameters:
    ///   - historyDays: how many days the first reading of the archive looks back; nil: unchanged, at first 14.
    ///   - jid: the account's address.
    ///   - login: the result of the login.
    ///   - clock: the source of time.
    ///   - resource: the resource requested at each bind.
    ///   - server: how the server is reached and trusted.
    public func store(
        jid: JID, server: ServerSettings, login: SuccessfulLogin, resource: String, historyDays: Int? = nil,
        clock: Clock = .system
    ) throws {
        let keys = try login.keys.map { try StoredValue(encoding: $0).canonicalBytes }
        try database.transaction {
            let steady = try SteadyTime(in: database, clock)
            try database.run(
                """
                INSERT INTO account(jid, resource, server, direct_tls, ca_file, mechanism, keys, password, created_at, state)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (jid) DO UPDATE SET server = excluded.server, direct_tls = excluded.direct_tls,
                    ca_file = excluded.ca_file, mechanism = excluded.mechanism, keys = excluded.keys,
                    password = excluded.password, state = excluded.state, new_password = NULL, unregistering = 0
                """,
                [
                    .text(jid.bare.description), .text(resource), .optional(server.override?.description),
                    .integer(server.directTLS ? 1 : 0), .optional(server.caFile), .text(login.mechanism.rawValue),
                    .optional(keys), keys == nil ? .text(login.password) : .null,
                    .integer(steady.now), .state(Account.State.active),
                ])
            if let historyDays {
                try database.run(
                    "UPDATE account SET history_days = ? WHERE jid = ?",
                    [.integer(Int64(historyDays)), .text(jid.bare.description)])
            }
            try database.run(
                """
                INSERT OR IGNORE INTO session(account, number, handled, acknowledged, position, archive)
                SELECT id, 0, 0, 0, 0, 0 FROM account WHERE jid = ?
                """, [.text(jid.bare.description)])
            try database.run(
                "INSERT OR IGNORE INTO server_time(account, base) SELECT id, ? FROM account WHERE jid = ?",
                [.integer(steady.base), .text(jid.bare.description)])
        }
    }

    /// Commits that an account is to be logged out, or removed. The driver does the work: an engine at its start, or a
    /// running engine after the doorbell.
    /// - Returns: false if the account is logged out already.
    public func requestLogout(_ account: Account, removing: Bool) throws -> Bool {
        try database.run(
            "UPDATE account SET state = ? WHERE id = ? AND (state <> ? OR ?)",
            [
                .state(removing ? Account.State.removing : .leaving), .integer(account.id),
                .state(Account.State.out), .integer(removing ? 1 : 0),
            ])
        return database.changes > 0
    }

    /// The account is logged out: it stays, without what is needed to log in.
    package func forgetLogin(of account: Account) throws {
        try database.run(
            "UPDATE account SET state = ?, keys = NULL, password = NULL, new_password = NULL WHERE id = ?",
            [.state(Account.State.out), .integer(account.id)])
    }

    /// Removes an account, and all rows of all tables that refer to it.
    package func remove(_ account: Account) throws {
        try database.run("DELETE FROM account WHERE id = ?", [.integer(account.id)])
    }

    /// The bare address of each account, by the number of its row.
    package func addresses() throws -> [Int64: String] {
        let all = try database.statement("SELECT id, jid FROM account").all { ($0.integer("id"), $0.text("jid")) }
        return Dictionary(uniqueKeysWithValues: all)
    }

    /// When an account was stored first, in the steady time; nil if there is none in the row.
    package func storedAt(_ account: Int64) throws -> Int64? {
        try database.statement("SELECT created_at FROM account WHERE id = ?")
            .first([.integer(account)]) { $0.integer() }
    }

    private static func mechanism(_ name: String) throws -> SASLMechanism {
        guard let mechanism = SASLMechanism(rawValue: name) else {
            throw StoreError(.other, "an account is stored with the unknown SASL mechanism \(name)")
        }
        return mechanism
    }

    static func credentials(keys: [UInt8]?, password: String) throws -> Credentials {
        guard let keys else { return .password(password) }
        guard let value = StoredValue(canonical: keys) else {
            throw StoreError(.corrupt, "the keys of an account are damaged")
        }
        return .keys(try value.decoded(as: SCRAMKeys.self))
    }
}

/// The result of a login.
public struct SuccessfulLogin: Sendable {
    /// The mechanism that the server accepted.
    public let mechanism: SASLMechanism
    /// The keys stored in the password's place; nil for a mechanism that needs the password itself.
    public let keys: SCRAMKeys?
    package let password: String

    /// A login with `password`; the password is stored only if `keys` is nil.
    public init(mechanism: SASLMechanism, keys: SCRAMKeys?, password: String) {
        self.mechanism = mechanism
        self.keys = keys
        self.password = password
    }
}
