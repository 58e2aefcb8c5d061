import KalijCore
import KalijAddress
import KalijStore
import KalijStream
import KalijXML

/// Queries for the features of a hash: a single query, however many entities announce the hash.
struct CapabilityQueries {
    package let step: Step
    private var database: Database { step.database }
    private var account: Value { .integer(step.account.id) }

    /// The maximum number of open queries of an account: an attacker may announce a new hash with each presence.
    private static let maxOpen: Int64 = 20
    /// How many entities with the same hash are queried one after another.
    private static let maxAttempts: Int64 = 3
    private static let timeout = Duration.seconds(60)
    /// The rate limit for the clients of a bare address.
    static let pace = RequestPace(30, atOnceThen: .seconds(30), upTo: .seconds(3600))
    /// In milliseconds. An older query is lost: its handler could not be called.
    private static let stale: Int64 = 600_000

    private var current: Value { .integer(step.steady.now - Self.stale) }

    /// Queries an entity about `hash`, unless a query is open or enough entities were queried.
    package func begin(_ hash: String) throws {
        guard try hasRoom(for: hash) else { return }
        guard
            try number(
                "SELECT count(*) FROM entity WHERE hash = ? AND account = ? AND state = ?",
                [.text(hash), account, .state(Entities.State.ownResponse)])
                < Self.maxAttempts
        else {
            return try database.run(
                "UPDATE entity SET state = ? WHERE hash = ? AND account = ? AND state = ?",
                [.state(Entities.State.abandoned), .text(hash), account, .state(Entities.State.waiting)])
        }
        let next = try database.statement(
            "SELECT jid, node FROM entity WHERE hash = ? AND account = ? AND state = ? ORDER BY id DESC LIMIT 1"
        ).first([.text(hash), account, .state(Entities.State.waiting)]) { ($0.text("jid"), $0.text("node")) }
        guard let (jid, node) = next else { return }
        guard try mayQuery(JID.received(jid)) else {
            return try database.run(
                "UPDATE entity SET state = ? WHERE account = ? AND jid = ?",
                [.state(Entities.State.abandoned), account, .text(jid)])
        }
        try sendQuery(JID.received(jid), node: node, about: hash)
    }

    /// Whether no query about the hash is open, and the number of open queries is below the limit.
    private func hasRoom(for hash: String) throws -> Bool {
        let isOpen = try number(
            "SELECT count(*) FROM entity WHERE hash = ? AND state = ? AND asked_at > ?",
            [.text(hash), .state(Entities.State.queried), current])
        guard isOpen == 0 else { return false }
        // `state < 2` is the condition of the partial index of open queries, which is used only if the statement names it.
        let open = try number(
            "SELECT count(*) FROM entity WHERE account = ? AND state < 2 AND state = ? AND asked_at > ?",
            [account, .state(Entities.State.queried), current])
        return open < Self.maxOpen
    }

    /// Whether `jid` is below the rate limit. An address that announces another hash with each presence is not queried for a while; a
    /// delayed query would occupy one of the open queries.
    private func mayQuery(_ jid: JID) throws -> Bool {
        let (pacing, key) = (Pacing(step: step), jid.bare.description)
        guard try pacing.wait(CapabilitiesResponse.name, key, Self.pace) == 0 else { return false }
        try pacing.acquire(CapabilitiesResponse.name, key, Self.pace)
        return true
    }

    private func sendQuery(_ jid: JID, node: String, about hash: String) throws {
        try database.run(
            "UPDATE entity SET state = ?, asked_at = ? WHERE account = ? AND jid = ?",
            [.state(Entities.State.queried), .integer(step.steady.now), account, .text(jid.description)])
        let query = Element("query", xmlns: DiscoveryInfo.namespace, attributes: ["node": node])
        try step.send(
            .request(.get, query, to: jid), then: CapabilitiesResponse(jid: jid, hash: hash), within: Self.timeout)
    }

    /// Handles the response to the query about `hash`, or its timeout.
    package func answered(_ reply: IQReply, by jid: JID, about hash: String) throws {
        // The response is parsed twice, with and without the language of the enclosing stanza: slixmpp 1.8 hashes without this
        // language (measured), XEP-0390 section 5.2.1 with it. The hash determines which result is used.
        let readings = [reply.discoveryInfo, reply.discoveryInfoAlone].compactMap { $0 }
        let verified = readings.first { CapabilityHash.verifies(key: hash, $0) }
        let bytes = (verified ?? readings.first).flatMap(EntityCapabilities.bytes)
        if verified != nil, let bytes {
            try EntityCapabilities(database: database, now: step.now).store(bytes, as: hash)
            try Entities(step: step).verified(hash)
        } else {
            try Entities(step: step).spoke(jid, bytes, for: hash)
            try begin(hash)
        }
        try beginNextQuery()
    }

    /// Queries about the hash that has waited longest for a free query.
    private func beginNextQuery() throws {
        // `state < 2` is the condition of the partial index of open queries, which is used only if the statement names it.
        let hash = try database.statement(
            """
            SELECT hash FROM entity e WHERE account = ? AND state < 2 AND state = ? AND NOT EXISTS
                (SELECT 1 FROM entity o WHERE o.hash = e.hash AND o.state = ? AND o.asked_at > ?) ORDER BY id LIMIT 1
            """
        ).first([account, .state(Entities.State.waiting), .state(Entities.State.queried), current]) { $0.text() }
        if let hash { try begin(hash) }
    }

    private func number(_ sql: StaticString, _ values: [Value]) throws -> Int64 {
        try database.statement(sql).first(values) { $0.integer() } ?? 0
    }
}
