import KalijAddress
import KalijCore
import KalijStore

/// An unfinished text of the user's.
public struct Draft: Sendable, Equatable {
    /// The text.
    public let body: String
    /// When the text was stored, in milliseconds since 1970.
    public let at: Int64
    /// The row of the message that the text replies to; nil if there is none, or if it is gone.
    public let answered: Int64?
}

extension Draft {
    /// The draft for `conversation`, a bare address; nil if there is none.
    package static func load(for conversation: String, of account: Int64, in database: Database) throws -> Draft? {
        let messages = MessageReader(database: database, account: account)
        return try database.statement("SELECT body, at, answered FROM draft WHERE account = ? AND conversation = ?")
            .first([.integer(account), .text(conversation)]) { row in
                let answered = try row.optionalInteger("answered").flatMap { try messages.message($0) }
                let isThere = answered.map { $0.isShown && $0.erasure == nil } ?? false
                return Draft(
                    body: row.text("body"), at: row.integer("at"), answered: isThere ? answered?.id : nil)
            }
    }

    /// The conversations with a draft, and when each was stored.
    package static func all(of account: Int64, in database: Database) throws -> [(conversation: String, at: Int64)] {
        try database.statement("SELECT conversation, at FROM draft WHERE account = ?")
            .all([.integer(account)]) { ($0.text("conversation"), $0.integer("at")) }
    }
}

/// Stores a draft in place of the former one. Drafts remain in this directory.
public struct SetDraft: Intent {
    public static let name = "draft"
    public static let isIdempotent = true
    /// The bare address of the conversation.
    public let conversation: String
    /// The text; empty to remove the draft.
    public let body: String
    /// The message that the text replies to; nil if there is none.
    public let reply: MessageReference?

    /// The maximum length of a draft in bytes: most servers reject longer texts.
    private static let maxLength = OutboundQueue.defaultStanzaLimit

    /// - Parameters:
    ///   - body: the text; empty to remove the draft.
    ///   - conversation: the recipient.
    ///   - answered: the message that the text replies to; nil if there is none.
    public init(_ body: String, for conversation: JID, answering answered: MessageReference? = nil) {
        (self.body, self.conversation, reply) = (body, conversation.description, answered)
    }

    public func check() throws {
        _ = try JID(conversation)
        try Self.checkLength(of: body)
    }

    static func checkLength(of body: String) throws {
        guard body.utf8.count <= maxLength else { throw IntentFailure("a draft may have \(maxLength) bytes") }
    }

    public func perform(_ id: String, in step: Step) throws -> IntentOutcome {
        try check()
        let answered = try reply?.found(by: step.account, in: step.database)
        try step.setDraft(body, for: JID(conversation), answering: answered?.id)
        return .done
    }
}

extension Step {
    /// Stores a draft in place of the former one.
    /// - Parameters:
    ///   - body: the text; empty to remove the draft.
    ///   - conversation: the recipient.
    ///   - answered: the row of the message that the text replies to; nil if there is none.
    /// - Throws: `StoreError`
    public func setDraft(_ body: String, for conversation: JID, answering answered: Int64? = nil) throws {
        let name = try RoomRows(database: database, account: account.id).conversation(with: conversation)
        let key: [Value] = [.integer(account.id), .text(name)]
        emit(DraftChanged(conversation: name))
        guard !body.isEmpty else {
            return try database.run("DELETE FROM draft WHERE account = ? AND conversation = ?", key)
        }
        try StoredSettings(database: database, account: account.id).unhide(name)
        try database.run(
            "INSERT OR REPLACE INTO draft(account, conversation, body, at, answered) VALUES (?, ?, ?, ?, ?)",
            key + [.text(body), .integer(now), .optional(answered)])
    }
}
