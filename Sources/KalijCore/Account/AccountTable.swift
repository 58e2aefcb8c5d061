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
            SELECT id, jid, resource, server, direct_tls, ca_file, mechanism, binding, sasl2, keys, password, state,
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
                pins: try Self.pins(row),
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
                INSERT INTO account(jid, resource, server, direct_tls, ca_file, mechanism, keys, password, created_at, state,
                    binding, sasl2)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (jid) DO UPDATE SET server = excluded.server, direct_tls = excluded.direct_tls,
                    ca_file = excluded.ca_file, mechanism = excluded.mechanism, keys = excluded.keys,
                    password = excluded.password, state = excluded.state, new_password = NULL, unregistering = 0,
                    binding = excluded.binding, sasl2 = excluded.sasl2
                """,
                [
                    .text(jid.bare.description), .text(resource), .optional(server.override?.description),
                    .integer(server.directTLS ? 1 : 0), .optional(server.caFile), .text(login.mechanism.rawValue),
                    .optional(keys), keys == nil ? .text(login.password) : .null,
                    .integer(steady.now), .state(Account.State.active), .optional(login.pins.binding?.rawValue),
                    .integer(login.pins.isSASL2 ? 1 : 0),
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
            """
            UPDATE account SET state = ?, keys = NULL, password = NULL, new_password = NULL, user_agent = NULL
            WHERE id = ?
            """, [.state(Account.State.out), .integer(account.id)])
        try LoginTokens(database, of: account.id).removeAll()
        try TicketRow(database, of: account.id).remove()
    }

    /// A login was accepted: what no later login falls below.
    package func set(_ pins: DowngradePins, of account: Int64) throws {
        guard let mechanism = pins.mechanism else { return }
        try database.run(
            "UPDATE account SET mechanism = ?, binding = ?, sasl2 = ? WHERE id = ?",
            [
                .text(mechanism.rawValue), .optional(pins.binding?.rawValue), .integer(pins.isSASL2 ? 1 : 0),
                .integer(account),
            ])
    }

    /// What the account's logins do not fall below.
    package func pins(of account: Int64) throws -> DowngradePins? {
        try database.prepare("SELECT mechanism, binding, sasl2 FROM account WHERE id = ?")
            .first([.integer(account)], Self.pins)
    }

    /// The id by which a server recognizes this directory's client (XEP-0388 section 2.2); nil if none was assigned yet.
    package func userAgent(of account: Int64) throws -> String? {
        try database.prepare("SELECT user_agent FROM account WHERE id = ?")
            .first([.integer(account)]) { $0.optionalText("user_agent") } ?? nil
    }

    package func set(userAgent: String, of account: Int64) throws {
        try database.run("UPDATE account SET user_agent = ? WHERE id = ?", [.text(userAgent), .integer(account)])
    }

    /// Removes an account, and all rows of all tables that refer to it.
    package func remove(_ account: Account) throws {
        try database.run("DELETE FROM account WHERE id = ?", [.integer(account.id)])
    }

    /// The bare address of each account, by the number of its row.
    package func addresses() throws -> [Int64: String] {
        let all = try database.statement("SELECT id, jid FROM account").all { ($0.integer("id"), $0.text("jid")) }
        return Dictionary(all) { $1 }
    }

    /// When an account was stored first, in the steady time; nil if there is none in the row.
    package func storedAt(_ account: Int64) throws -> Int64? {
        try database.statement("SELECT created_at FROM account WHERE id = ?")
            .first([.integer(account)]) { $0.integer() }
    }

    private static func pins(_ row: Row) throws -> DowngradePins {
        let (name, kind) = (row.text("mechanism"), row.optionalText("binding"))
        guard let mechanism = SASLMechanism(rawValue: name) else {
            throw StoreError(.other, "an account is stored with the unknown SASL mechanism \(name)")
        }
        let binding = kind.flatMap(ChannelBindings.Kind.init(rawValue:))
        // Without the pin a login would be accepted that is not bound.
        if let kind, binding == nil {
            throw StoreError(.other, "an account is stored with the unknown channel binding \(kind)")
        }
        return DowngradePins(mechanism: mechanism, binding: binding, isSASL2: row.bool("sasl2"))
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
    /// What no later login falls below.
    package let pins: DowngradePins
    package let password: String

    /// A login with `password`; the password is stored only if `keys` is nil.
    /// - Parameter pins: what no later login falls below; nil: the mechanism alone.
    public init(mechanism: SASLMechanism, keys: SCRAMKeys?, password: String, pins: DowngradePins? = nil) {
        self.mechanism = mechanism
        self.keys = keys
        self.pins = pins ?? DowngradePins(mechanism: mechanism)
        self.password = password
    }
}
