import KalijAddress
import KalijCore
import KalijStore

extension SparseTable {
    fileprivate static let encryptedConversation = SparseTable(anyRow: "SELECT 1 FROM omemo_conversation LIMIT 1")
}

/// The conversations that are encrypted. A conversation is encrypted from its first encrypted message on, or by the user's command, and
/// never reverts to plain by itself.
struct ConversationEncryption {
    let database: Database
    let account: Int64

    init(step: Step) { (database, account) = (step.database, step.account.id) }
    init(database: Database, account: Int64) { (self.database, self.account) = (database, account) }

    private func key(_ conversation: String) -> [Value] { [.integer(account), .text(conversation)] }

    /// Whether messages of the user's are encrypted in `conversation`. Can be called outside of a step.
    func isEncrypted(_ conversation: String) throws -> Bool {
        if try database.isKnownEmpty(.encryptedConversation) { return false }
        return try database.statement("SELECT encrypted FROM omemo_conversation WHERE account = ? AND conversation = ?")
            .first(key(conversation)) { $0.bool() } ?? false
    }

    /// The encrypted conversations.
    func all() throws -> [String] {
        try database.statement(
            "SELECT conversation FROM omemo_conversation WHERE account = ? AND encrypted = 1 ORDER BY conversation"
        ).all([.integer(account)]) { $0.text() }
    }

    /// Records the user's decision.
    func set(_ isEncrypted: Bool, for conversation: String) throws {
        try database.run(
            """
            INSERT INTO omemo_conversation(account, conversation, encrypted, blocked, looking) VALUES (?, ?, ?, 0, 0)
            ON CONFLICT (account, conversation) DO UPDATE SET encrypted = excluded.encrypted, blocked = 0
            """, key(conversation) + [.integer(isEncrypted ? 1 : 0)], into: .encryptedConversation)
    }

    /// Handles an encrypted message: the conversation is encrypted from now on, unless the user has decided otherwise.
    func recordEncrypted(in conversation: String) throws {
        // Avoids a write for each message.
        let isDecided = try database.statement(
            "SELECT encrypted IS NOT NULL FROM omemo_conversation WHERE account = ? AND conversation = ?"
        ).first(key(conversation)) { $0.bool() }
        guard isDecided != true else { return }
        let jid = JID.received(conversation)
        let rooms = RoomRows(database: database, account: account)
        if !jid.isBare { return }
        if let room = try rooms.room(jid), !room.info.isGroup { return }
        try database.run(
            """
            INSERT INTO omemo_conversation(account, conversation, encrypted, blocked, looking) VALUES (?, ?, 1, 0, 0)
            ON CONFLICT (account, conversation) DO UPDATE SET encrypted = coalesce(encrypted, 1)
            """, key(conversation), into: .encryptedConversation)
    }

    // MARK: Opt-out

    /// The other side has opted out (XEP-0384 section 5.7): messages wait until the user decides.
    func block(_ conversation: String) throws {
        try database.run(
            "UPDATE omemo_conversation SET blocked = 1 WHERE account = ? AND conversation = ? AND encrypted = 1",
            key(conversation))
    }

    func isBlocked(_ conversation: String) throws -> Bool {
        try database.statement("SELECT blocked FROM omemo_conversation WHERE account = ? AND conversation = ?")
            .first(key(conversation)) { $0.bool() } ?? false
    }

    // MARK: Retries for keys

    /// - Returns: whether a timer is to be set.
    func beginLookup(_ conversation: String) throws -> Bool {
        try database.run(
            """
            INSERT INTO omemo_conversation(account, conversation, blocked, looking) VALUES (?, ?, 0, 1)
            ON CONFLICT (account, conversation) DO UPDATE SET looking = 1 WHERE looking = 0
            """, key(conversation), into: .encryptedConversation)
        return database.changes > 0
    }

    /// Whether keys are unavailable at present, and requested again later.
    func isLookingUp(_ conversation: String) throws -> Bool {
        try database.statement("SELECT looking FROM omemo_conversation WHERE account = ? AND conversation = ?")
            .first(key(conversation)) { $0.bool() } ?? false
    }

    func endLookup(_ conversation: String) throws {
        try database.run(
            "UPDATE omemo_conversation SET looking = 0 WHERE account = ? AND conversation = ?", key(conversation))
    }
}
