import KalijAddress
import KalijCore
import KalijStore

/// Determines which contacts states may be sent to (XEP-0085 section 5.1).
struct ChatStateSupport {
    let step: Step
    private var account: Value { .integer(step.account.id) }

    /// Handles a reply of a contact, with or without a state. For a stranger it counts only if it is a message with a state.
    func answered(_ message: IncomingMessage, supports: Bool) throws {
        let partners = try step.transaction.chatPartners()
        let known = partners[message.conversation, of: step.account.id]
        let counts = supports && message.isShown
        guard known != .stored(supports), known != .stranger || counts else { return }
        let messages = MessageReader(database: step.database, account: step.account.id)
        let stored = try self.supports(message.conversation)
        guard try counts || messages.hasWritten(to: message.conversation) else {
            if stored == nil { partners[message.conversation, of: step.account.id] = .stranger }
            return
        }
        if stored != supports {
            try step.database.run(
                "INSERT OR REPLACE INTO chat_partner(account, contact, supports) VALUES (?, ?, ?)",
                [account, .text(message.conversation), .integer(supports ? 1 : 0)])
        }
        partners[message.conversation, of: step.account.id] = .stored(supports)
    }

    /// Whether `contact` uses states; nil if the contact has not replied.
    func supports(_ contact: JID) throws -> Bool? { try supports(contact.bare.description) }

    private func supports(_ contact: String) throws -> Bool? {
        try step.database.statement("SELECT supports FROM chat_partner WHERE account = ? AND contact = ?")
            .first([account, .text(contact)]) { $0.bool() }
    }

    /// Whether the user and the disclosure policy allow states to be sent to `contact`.
    func allowsStates(_ contact: JID) throws -> Bool {
        try DisclosurePolicy(step: step).verdict(.typing, to: contact) == .may
    }

    /// Whether a text to `contact` includes the state `active`, which also requests the contact's states.
    func includesActive(_ contact: JID) throws -> Bool {
        guard try !step.settings(with: contact).off.contains(.typing) else { return false }
        return try supports(contact) ?? true
    }
}
