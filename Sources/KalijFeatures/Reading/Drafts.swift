import KalijAddress
import KalijCore
import KalijStore

/// An unfinished text of the user's.
public struct Draft: Sendable, Equatable {
    /// The text.
    public let body: String
    /// When the text was stored, in milliseconds since 1970.
    public let at: Int64
}

extension Draft {
    /// The draft for `conversation`, a bare address; nil if there is none.
    package static func load(for conversation: String, of account: Int64, in database: Database) throws -> Draft? {
        try database.statement("SELECT body, at FROM draft WHERE account = ? AND conversation = ?")
            .first([.integer(account), .text(conversation)]) { Draft(body: $0.text("body"), at: $0.integer("at")) }
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

    /// The maximum length of a draft in bytes: most servers reject longer texts.
    private static let maxLength = OutboundQueue.defaultStanzaLimit

    /// - Parameters:
    ///   - body: the text; empty to remove the draft.
    ///   - conversation: the recipient.
    public init(_ body: String, for conversation: JID) {
        (self.body, self.conversation) = (body, conversation.description)
    }

    public func check() throws {
        _ = try JID(conversation)
        guard body.utf8.count <= Self.maxLength else { throw IntentFailure("a draft may have \(Self.maxLength) bytes") }
    }

    public func perform(_ id: String, in step: Step) throws -> IntentOutcome {
        try check()
        try step.setDraft(body, for: JID(conversation))
        return .done
    }
}

extension Step {
    /// Stores a draft in place of the former one.
    /// - Parameters:
    ///   - body: the text; empty to remove the draft.
    ///   - conversation: the recipient.
    /// - Throws: `StoreError`
    public func setDraft(_ body: String, for conversation: JID) throws {
        let name = try RoomRows(database: database, account: account.id).conversation(with: conversation)
        let key: [Value] = [.integer(account.id), .text(name)]
        emit(DraftChanged(conversation: name))
        guard !body.isEmpty else {
            return try database.run("DELETE FROM draft WHERE account = ? AND conversation = ?", key)
        }
        try StoredSettings(database: database, account: account.id).unhide(name)
        try database.run(
            "INSERT OR REPLACE INTO draft(account, conversation, body, at) VALUES (?, ?, ?, ?)",
            key + [.text(body), .integer(now)])
    }
}
