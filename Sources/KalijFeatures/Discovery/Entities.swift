import KalijCore
import KalijAddress
import KalijStore
import KalijStream

/// The entities whose presence or features were received in this session, as rows.
struct Entities {
    package let step: Step
    private var database: Database { step.database }
    private var account: Value { .integer(step.account.id) }

    /// The source of the features of an entity, or the progress of the query for them.
    package enum State: Int64 {
        case waiting = 0
        case queried = 1
        /// The hash was verified, by the response of this entity or of another entity.
        case byHash = 2
        /// The response applies to this entity alone: there is no hash, the hash does not match, or the query has failed.
        case ownResponse = 3
        /// Other entities with the same hash did not respond, or their responses did not match; this entity is queried only on demand.
        case abandoned = 4
    }

    /// The maximum number of rows, and of rows with features of their own; the newest are kept.
    private static let (limit, maxOwnResponses): (Int64, Int64) = (5000, 200)

    /// Stores the announcement of an entity.
    package func store(_ jid: JID, hash: String, node: String, _ state: State) throws {
        try database.run(
            """
            INSERT INTO entity(account, jid, hash, node, state) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT (account, jid) DO UPDATE SET hash = excluded.hash, node = excluded.node, state = excluded.state,
                asked_at = 0, info = NULL
            """, [account, .text(jid.description), .text(hash), .text(node), .state(state)])
        try removeOld()
    }

    /// Stores the features of an entity; nil if the query has failed.
    /// - Parameter hash: stores only if the entity still announces this hash; nil: in any case.
    func spoke(_ jid: JID, _ info: [UInt8]?, for hash: String? = nil) throws {
        if let hash {
            try database.run(
                "UPDATE entity SET state = ?, info = ? WHERE account = ? AND jid = ? AND hash = ? AND state IN (?, ?)",
                [
                    .state(State.ownResponse), .optional(info), account, .text(jid.description), .text(hash),
                    .state(State.waiting), .state(State.queried),
                ])
        } else {
            try database.run(
                """
                INSERT INTO entity(account, jid, hash, node, state, info) VALUES (?, ?, '', '', ?, ?)
                ON CONFLICT (account, jid) DO UPDATE SET state = excluded.state, info = excluded.info WHERE state <> ?
                """,
                [
                    account, .text(jid.description), .state(State.ownResponse), .optional(info), .state(State.byHash),
                ])
            try removeOld()
        }
        guard info != nil else { return }
        try database.run(
            """
            UPDATE entity SET info = NULL, state = ? WHERE id IN (SELECT id FROM entity
                WHERE account = ? AND info IS NOT NULL ORDER BY id DESC LIMIT -1 OFFSET ?)
            """, [.state(State.abandoned), account, .integer(Self.maxOwnResponses)])
    }

    /// The hash was verified: the features of all entities with this hash are determined.
    func verified(_ hash: String) throws {
        try database.run(
            "UPDATE entity SET state = ? WHERE hash = ? AND state IN (?, ?, ?)",
            [.state(State.byHash), .text(hash), .state(State.waiting), .state(State.queried), .state(State.abandoned)])
    }

    /// The entity has become unavailable.
    package func remove(_ jid: JID) throws {
        try database.run("DELETE FROM entity WHERE account = ? AND jid = ?", [account, .text(jid.description)])
    }

    /// The previous session is lost: available entities announce themselves again.
    package func removeAll() throws { try database.run("DELETE FROM entity WHERE account = ?", [account]) }

    private func removeOld() throws {
        try database.run(
            "DELETE FROM entity WHERE id <= (SELECT max(id) FROM entity) - ?", [.integer(Self.limit)])
    }
}
