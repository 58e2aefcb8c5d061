import KalijCore
import KalijAddress
import KalijStore
import KalijStream
import KalijXML

/// Determines the features of other entities from the hashes in their presence (XEP-0115, XEP-0390).
struct Announcements {
    package let step: Step

    /// Handles a presence. A presence without a hash changes nothing: a server may omit an unchanged hash (XEP-0390 section 5.2).
    package func received(_ presence: Element) throws {
        // A room may have thousands of occupants, whose features are not required.
        guard let from = presence["from"], let jid = JID.prepared(from),
            presence.child("x", "http://jabber.org/protocol/muc#user") == nil
        else { return }
        switch presence["type"] {
        case nil:
            if let announced = Announced(presence, by: jid), try !isOurselves(jid) { try learn(announced, of: jid) }
        case "unavailable": try Entities(step: step).remove(jid)
        default: break
        }
    }

    /// Whether `jid` is this client: the server sends the client's own presence to it, too.
    private func isOurselves(_ jid: JID) throws -> Bool {
        guard jid.bare == step.account.jid else { return false }
        return try SessionRow.load(step.account.id, from: step.database).jid == jid.description
    }

    /// Whether a query may disclose this client's presence and full address to `jid` (RFC 6121 section 11). It may to the account's
    /// other clients, and to contacts to whom the account has written. Other senders of presence are not queried.
    private func mayQuery(_ jid: JID) throws -> Bool {
        if jid.bare == step.account.jid { return true }
        return try MessageReader(database: step.database, account: step.account.id)
            .hasWritten(to: jid.bare.description)
    }

    private func learn(_ announced: Announced, of jid: JID) throws {
        let cache = EntityCapabilities(database: step.database, now: step.now)
        // The only look-up for a presence with a cached hash.
        let before = try step.database.statement(
            """
            SELECT (SELECT used_at FROM capability WHERE hash = ?1) AS used_at,
                (SELECT state FROM entity WHERE account = ?2 AND jid = ?3 AND hash = ?1) AS state
            """
        ).first([.text(announced.hash), .integer(step.account.id), .text(jid.description)]) {
            (usedAt: $0.optionalInteger("used_at"), state: $0.optionalInteger("state").flatMap(Entities.State.init))
        }
        let usedAt = before?.usedAt
        switch before?.state {
        case .byHash where usedAt != nil, .queried, .ownResponse, .abandoned: break
        case .waiting: try CapabilityQueries(step: step).begin(announced.hash)
        case .byHash, nil:
            let isKnown = try usedAt != nil || isOurs(announced.hash, cache)
            guard try isKnown || mayQuery(jid) else { return }
            try Entities(step: step).store(
                jid, hash: announced.hash, node: announced.node, isKnown ? .byHash : .waiting)
            if !isKnown { try CapabilityQueries(step: step).begin(announced.hash) }
        }
        if let usedAt { try cache.used(announced.hash, before: usedAt) }
    }

    /// Whether the hash is the hash of this software; then no query is necessary.
    private func isOurs(_ hash: String, _ cache: EntityCapabilities) throws -> Bool {
        let own = step.features.capabilities
        guard own.hashes.contains(where: { $0.key == hash }), let bytes = EntityCapabilities.bytes(own.info) else {
            return false
        }
        try cache.store(bytes, as: hash)
        return true
    }
}

/// The announced hash of an entity.
private struct Announced {
    /// The key in the database. A hash that cannot be verified is valid for this entity alone.
    let hash: String
    /// The node for the query.
    let node: String

    /// The maximum length in bytes, above that of any hash or software name.
    private static let maxLength = 1000

    package init?(_ presence: Element, by jid: JID) {
        let all = CapabilityHash.announced(in: presence)
            .filter { $0.node.utf8.count <= Self.maxLength && $0.algorithm.utf8.count <= 50 }
        guard let best = all.first(where: \.isVerifiable) ?? all.first else { return nil }
        hash = best.isVerifiable ? best.key : "of \(jid) \(best.key)"
        node = best.node
    }
}
