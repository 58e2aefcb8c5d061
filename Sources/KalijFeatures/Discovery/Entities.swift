import KalijSteps
import KalijAddress
import KalijStore
import KalijStream

/// Who said what of itself in the present session, as rows.
struct Entities {
    package let step: Step
    private var database: Database { step.database }
    private var account: Value { .integer(step.account.id) }

    /// How what is known of an entity came to be known, or what is in the way.
    package enum State: Int64 {
        case wanted = 0
        case asked = 1
        /// Its hash was verified, by its own answer or somebody else's.
        case byHash = 2
        /// It was asked, and the answer is its own: there is no hash, the hash is another one's, or it did not answer.
        case ownWord = 3
        /// Others with the same hash did not answer or lied; it is not asked unless somebody wants to know.
        case givenUp = 4
    }

    /// How many are kept in all, and how many with a word of their own; the newest.
    private static let (limit, ownWords): (Int64, Int64) = (5000, 200)

    /// Stores what an entity announces.
    package func store(_ jid: JID, hash: String, node: String, _ state: State) throws {
        try database.run(
            """
            INSERT INTO entity(account, jid, hash, node, state) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT (account, jid) DO UPDATE SET hash = excluded.hash, node = excluded.node, state = excluded.state,
                asked_at = 0, info = NULL
            """, [account, .text(jid.description), .text(hash), .text(node), .integer(state.rawValue)])
        try removeOld()
    }

    /// Stores what an entity says of itself; nil if it says nothing.
    /// - Parameter hash: only if it still announces that one; nil for whatever it announces.
    func spoke(_ jid: JID, _ info: [UInt8]?, for hash: String? = nil) throws {
        if let hash {
            try database.run(
                "UPDATE entity SET state = 3, info = ? WHERE account = ? AND jid = ? AND hash = ? AND state < 2",
                [.optional(info), account, .text(jid.description), .text(hash)])
        } else {
            try database.run(
                """
                INSERT INTO entity(account, jid, hash, node, state, info) VALUES (?, ?, '', '', 3, ?)
                ON CONFLICT (account, jid) DO UPDATE SET state = 3, info = excluded.info WHERE state <> 2
                """, [account, .text(jid.description), .optional(info)])
            try removeOld()
        }
        guard info != nil else { return }
        try database.run(
            """
            UPDATE entity SET info = NULL, state = 4 WHERE id IN (SELECT id FROM entity
                WHERE account = ? AND info IS NOT NULL ORDER BY id DESC LIMIT -1 OFFSET ?)
            """, [account, .integer(Self.ownWords)])
    }

    /// The hash was verified: all who announce it are known.
    func verified(_ hash: String) throws {
        try database.run("UPDATE entity SET state = 2 WHERE hash = ? AND state IN (0, 1, 4)", [.text(hash)])
    }

    /// The entity is gone.
    package func remove(_ jid: JID) throws {
        try database.run("DELETE FROM entity WHERE account = ? AND jid = ?", [account, .text(jid.description)])
    }

    /// Another session: who is there tells it anew.
    package func removeAll() throws { try database.run("DELETE FROM entity WHERE account = ?", [account]) }

    private func removeOld() throws {
        try database.run(
            "DELETE FROM entity WHERE id <= (SELECT max(id) FROM entity) - ?", [.integer(Self.limit)])
    }
}
