import KalijAddress
import KalijSteps
import KalijStore

/// Whom states may be sent to (XEP-0085 section 5.1).
struct ChatStateSupport {
    let step: Step
    private var account: Value { .integer(step.account.id) }

    /// A contact has answered, with or without a state. A stranger counts if it has written a message with a state.
    func answered(_ message: IncomingMessage, supports: Bool) throws {
        let messages = MessageReader(database: step.database, account: step.account.id)
        guard try supports && message.isShown || messages.hasWritten(to: message.conversation),
            try self.supports(.received(message.conversation)) != supports
        else { return }
        try step.database.run(
            "INSERT OR REPLACE INTO chat_partner(account, contact, supports) VALUES (?, ?, ?)",
            [account, .text(message.conversation), .integer(supports ? 1 : 0)])
    }

    /// Whether `contact` uses states; nil if the contact has not answered.
    func supports(_ contact: JID) throws -> Bool? {
        try step.database.statement("SELECT supports FROM chat_partner WHERE account = ? AND contact = ?")
            .first([account, .text(contact.bare.description)]) { $0.bool("supports") }
    }

    /// Whether the user wants `contact` to know, and the contact may know.
    func mayKnow(_ contact: JID) throws -> Bool {
        try DisclosurePolicy(step: step).verdict(.typing, to: contact) == .may
    }

    /// Whether a text to `contact` says that the user is active, and so asks for the contact's states.
    func isTold(_ contact: JID) throws -> Bool {
        guard try !step.settings(for: contact.bare.description).off.contains(.typing) else { return false }
        return try supports(contact) ?? true
    }
}
