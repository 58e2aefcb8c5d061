import KalijHandlers
import KalijStore
import KalijStream
import KalijTransport

/// The stored facts about an address of an account's server.
package struct EndpointRow: Sendable {
    /// Which address: a name, a port, and whether TLS begins with the first byte.
    package struct Key: Hashable, Sendable {
        package let host: String
        package let port: UInt16
        package let directTLS: Bool

        package init(_ endpoint: Endpoint) {
            (host, port, directTLS) = (endpoint.host, endpoint.port, endpoint.directTLS)
        }

        fileprivate var values: [Value] { [.text(host), .integer(Int64(port)), .integer(directTLS ? 1 : 0)] }
    }

    /// The cost of a login, up to the session.
    package struct LoginCost: Equatable, Sendable {
        /// Bytes on the socket, TLS included.
        package let sent: Int
        /// Bytes on the socket, TLS included.
        package let received: Int
        /// From the beginning of the connection, in milliseconds.
        package let milliseconds: Int

        package init(sent: Int, received: Int, milliseconds: Int) {
            (self.sent, self.received, self.milliseconds) = (sent, received, milliseconds)
        }
    }

    package let endpoint: Endpoint
    /// When the DNS returned the address last, in milliseconds since 1970; nil for never.
    package let foundAt: Int64?
    package let server: KnownServer
    package let link: LinkMeasurement
    package let lastLogin: LoginCost?

    /// At most so many addresses of an account are kept: the DNS may return a new one each day.
    private static let maxCount = 16

    /// The address with the last session; nil if there is none.
    package static func last(of account: Int64, in database: Database) throws -> EndpointRow? {
        try database.prepare(
            """
            SELECT host, port, direct_tls, address, found_at, server, round_trip, variation, rate, login_sent, login_received, login_time
            FROM endpoint WHERE account = ? ORDER BY used_at DESC LIMIT 1
            """
        ).first([.integer(account)], EndpointRow.init)
    }

    package static func load(_ key: Key, of account: Int64, from database: Database) throws -> EndpointRow? {
        try database.prepare(
            """
            SELECT host, port, direct_tls, address, found_at, server, round_trip, variation, rate, login_sent, login_received, login_time
            FROM endpoint WHERE account = ? AND host = ? AND port = ? AND direct_tls = ?
            """
        ).first([.integer(account)] + key.values, EndpointRow.init)
    }

    private init(_ row: Row) {
        endpoint = Endpoint(
            host: row.text("host"), address: row.text("address"), port: UInt16(truncatingIfNeeded: row.integer("port")),
            directTLS: row.bool("direct_tls"))
        foundAt = row.optionalInteger("found_at")
        // A damaged row, or one stored by a newer version, is ignored: the login then runs step by step, and the server is learned anew.
        server =
            row.optionalBlob("server").flatMap(StoredValue.init(canonical:)).flatMap { try? $0.decoded() }
            ?? KnownServer()
        link = LinkMeasurement(
            roundTrip: row.optionalInteger("round_trip").map { Double($0) / 1000 },
            variation: row.optionalInteger("variation").map { Double($0) / 1000 },
            bytesPerSecond: row.optionalInteger("rate").map(Double.init))
        lastLogin = row.optionalInteger("login_time").map { time in
            LoginCost(
                sent: Int(row.integer("login_sent")), received: Int(row.integer("login_received")),
                milliseconds: Int(time))
        }
    }

    /// Whether the address may be connected to without a DNS query: for a day, because no notification of a change there exists.
    package func isFresh(at now: Int64) -> Bool {
        foundAt.map { (0..<Self.day).contains(now.subtractingReportingOverflow($0).partialValue) } ?? false
    }

    private static let day: Int64 = 24 * 3600 * 1000

    /// A session has begun, or was resumed, at `endpoint`.
    /// - Parameter isFound: whether the address is from a DNS response, and not a remembered one.
    package static func record(
        _ endpoint: Endpoint, _ link: LinkMeasurement, _ login: LoginCost, isFound: Bool, at now: Int64,
        of account: Int64,
        in database: Database
    ) throws {
        try database.run(
            """
            INSERT INTO endpoint(account, host, port, direct_tls, address, used_at, round_trip, variation, rate,
                login_sent, login_received, login_time, found_at)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
            ON CONFLICT (account, host, port, direct_tls) DO UPDATE SET address = excluded.address,
                used_at = excluded.used_at, found_at = coalesce(excluded.found_at, found_at), round_trip = coalesce(excluded.round_trip, round_trip),
                variation = coalesce(excluded.variation, variation), rate = coalesce(excluded.rate, rate),
                login_sent = excluded.login_sent, login_received = excluded.login_received,
                login_time = excluded.login_time
            """,
            [.integer(account)] + Key(endpoint).values + [
                .text(endpoint.address), .integer(now), .optional(link.roundTrip.map(milliseconds)),
                .optional(link.variation.map(milliseconds)), .optional(link.bytesPerSecond.map(bounded)),
                .integer(Int64(login.sent)), .integer(Int64(login.received)), .integer(Int64(login.milliseconds)),
                isFound ? .integer(now) : .null,
            ])
        try forgetOldest(of: account, in: database)
    }

    /// What the server offers at `endpoint`, and what has worked there.
    package static func learn(
        _ server: KnownServer, at endpoint: Endpoint, of account: Int64, now: Int64, in database: Database
    ) throws {
        try database.run(
            """
            INSERT INTO endpoint(account, host, port, direct_tls, address, used_at, server)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
            ON CONFLICT (account, host, port, direct_tls) DO UPDATE SET server = excluded.server
            """,
            [.integer(account)] + Key(endpoint).values + [
                .text(endpoint.address), .integer(now), .blob(try StoredValue(encoding: server).canonicalBytes),
            ])
        try forgetOldest(of: account, in: database)
    }

    private static func forgetOldest(of account: Int64, in database: Database) throws {
        try database.run(
            """
            DELETE FROM endpoint WHERE account = ?1 AND used_at <
                (SELECT used_at FROM endpoint WHERE account = ?1 ORDER BY used_at DESC LIMIT 1 OFFSET ?2)
            """, [.integer(account), .integer(Int64(maxCount - 1))])
    }

    private static func bounded(_ rate: Double) -> Int64 { Int64(min(max(0, rate), 1e12)) }
    private static func milliseconds(_ seconds: Double) -> Int64 { Int64(min(max(0, seconds), 3600) * 1000) }
}
