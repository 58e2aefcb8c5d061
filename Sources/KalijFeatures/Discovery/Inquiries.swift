import KalijSteps
import KalijAddress
import KalijStore
import KalijStream
import KalijXML

/// Finds out what hashes stand for: one question for each, however many entities announce it.
struct Inquiries {
    package let step: Step
    private var database: Database { step.database }
    private var account: Value { .integer(step.account.id) }

    /// How many questions of an account may be open: somebody may announce a new hash with each presence.
    private static let mostOpen: Int64 = 20
    /// How many entities with the same hash are asked one after another.
    private static let mostAttempts: Int64 = 3
    private static let patience = Duration.seconds(60)
    /// A question that is older has got lost: its handler could not be called.
    private static let stale: Int64 = 600_000

    private var current: Value { .integer(step.steady.now - Self.stale) }

    /// Asks somebody about `hash`, unless that is under way or was tried often enough.
    package func begin(_ hash: String) throws {
        guard
            try number(
                "SELECT count(*) FROM entity WHERE hash = ? AND state = 1 AND asked_at > ?", [.text(hash), current])
                == 0,
            try number(
                "SELECT count(*) FROM entity WHERE account = ? AND state < 2 AND state = 1 AND asked_at > ?",
                [account, current])
                < Self.mostOpen
        else { return }
        guard
            try number(
                "SELECT count(*) FROM entity WHERE hash = ? AND account = ? AND state = 3", [.text(hash), account])
                < Self.mostAttempts
        else {
            return try database.run(
                "UPDATE entity SET state = 4 WHERE hash = ? AND account = ? AND state = 0", [.text(hash), account])
        }
        let next = try database.statement(
            "SELECT jid, node FROM entity WHERE hash = ? AND account = ? AND state = 0 ORDER BY id DESC LIMIT 1"
        ).first([.text(hash), account]) { ($0.text("jid"), $0.text("node")) }
        guard let (jid, node) = next else { return }
        try ask(JID.received(jid), node: node, about: hash)
    }

    private func ask(_ jid: JID, node: String, about hash: String) throws {
        try database.run(
            "UPDATE entity SET state = 1, asked_at = ? WHERE account = ? AND jid = ?",
            [.integer(step.steady.now), account, .text(jid.description)])
        let query = Element("query", xmlns: DiscoveryInfo.namespace, attributes: ["node": node])
        try step.send(
            .request(.get, query, to: jid), then: CapabilitiesTold(jid: jid, hash: hash), within: Self.patience)
    }

    /// Who was asked about `hash` has answered, or not.
    package func answered(_ reply: IQReply, by jid: JID, about hash: String) throws {
        // Whether the language around an identity is its own is read in both ways (measured: slixmpp 1.8 hashes without
        // that of the stanza, which XEP-0390 section 5.2.1 counts): the hash says which one was meant.
        let readings = [reply.discoveryInfo, reply.discoveryInfoAlone].compactMap { $0 }
        let verified = readings.first { CapabilityHash.verifies(key: hash, $0) }
        let bytes = (verified ?? readings.first).flatMap(CapabilityCache.bytes)
        if verified != nil, let bytes {
            try CapabilityCache(database: database, now: step.now).store(bytes, as: hash)
            try Entities(step: step).verified(hash)
        } else {
            try Entities(step: step).spoke(jid, bytes, for: hash)
            try begin(hash)
        }
        try goOn()
    }

    /// Asks about the hash that has waited longest because there were too many questions.
    private func goOn() throws {
        let hash = try database.statement(
            """
            SELECT hash FROM entity e WHERE account = ? AND state < 2 AND state = 0 AND NOT EXISTS
                (SELECT 1 FROM entity o WHERE o.hash = e.hash AND o.state = 1 AND o.asked_at > ?) ORDER BY id LIMIT 1
            """
        ).first([account, current]) { $0.text() }
        if let hash { try begin(hash) }
    }

    private func number(_ sql: StaticString, _ values: [Value]) throws -> Int64 {
        try database.statement(sql).first(values) { $0.integer() } ?? 0
    }
}
