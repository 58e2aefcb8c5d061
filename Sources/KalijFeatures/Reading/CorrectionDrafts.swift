import KalijCore
import KalijStore

/// An unfinished correction of one of the user's messages.
public struct CorrectionDraft: Sendable, Equatable {
    /// The row of the message.
    public let message: Int64
    /// The text so far.
    public let body: String
}

extension CorrectionDraft {
    /// The unfinished correction in `conversation`, a bare address: the one of the newest message; nil if there is none.
    package static func load(
        for conversation: String, of account: Account, in database: Database
    ) throws -> CorrectionDraft? {
        let drafts = try database.statement("SELECT message, body FROM correction_draft ORDER BY message DESC")
            .all([]) { CorrectionDraft(message: $0.integer("message"), body: $0.text("body")) }
        return try drafts.first { try isValid($0.message, in: conversation, of: account, in: database) }
    }

    /// Whether the message in `row` is in `conversation`, and can be corrected.
    package static func isValid(
        _ row: Int64, in conversation: String, of account: Account, in database: Database
    ) throws -> Bool {
        guard let message = try MessageReader(database: database, account: account.id).message(row) else {
            return false
        }
        return message.conversation.exact == conversation.exact && message.direction == .outgoing && message.isShown
            && message.erasure == nil
    }
}

/// Stores an unfinished correction in place of the former one of the same message. It remains in this directory, and ends with
/// ``Correct``.
public struct SetCorrectionDraft: Intent {
    public static let name = "correction_draft"
    public static let isIdempotent = true
    /// The message.
    public let message: MessageReference
    /// The text; empty to remove it.
    public let body: String

    /// - Parameters:
    ///   - body: the text; empty to remove it.
    ///   - message: the message that is corrected.
    public init(_ body: String, of message: MessageReference) { (self.body, self.message) = (body, message) }

    public func check() throws { try SetDraft.checkLength(of: body) }

    public func perform(_ id: String, in step: Step) throws -> IntentOutcome {
        try check()
        let message = try message.found(in: step)
        try step.setCorrectionDraft(body, of: message)
        return .done
    }
}

extension Step {
    /// Stores an unfinished correction of `message` in place of the former one; an empty one is removed.
    func setCorrectionDraft(_ body: String, of message: Message) throws {
        let row = Value.integer(message.id)
        guard !body.isEmpty else { return try database.run("DELETE FROM correction_draft WHERE message = ?", [row]) }
        try database.run("INSERT OR REPLACE INTO correction_draft(message, body) VALUES (?, ?)", [row, .text(body)])
    }
}
