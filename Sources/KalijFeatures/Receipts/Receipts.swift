import KalijAddress
import KalijSteps
import KalijStore
import KalijXML

/// The receipts of one step.
struct Receipts {
    let step: Step

    /// Somebody has got the message that was sent to `conversation` as `id`; told once.
    func came(for id: String, from conversation: String) throws {
        guard let message = try Message.accepted(id, by: step.account, in: step.database),
            JID.received(message.to).bare.description == conversation
        else { return }
        try step.database.run(
            "INSERT OR IGNORE INTO receipt(message, at) VALUES (?, ?)", [.integer(message.id), .integer(step.now)])
        guard step.database.changes > 0 else { return }
        try Telling(step: step).tell(MessageDelivered(message))
    }

    /// Gives the receipt that a message asks for, in the step that stores it: so exactly once. Not for a room's message, nor for a
    /// copy, whose receipt is the other client's (section 5.3, 5.4).
    func give(for message: IncomingMessage) throws {
        guard message.direction == .incoming, message.source != .carbon, ["chat", "normal"].contains(message.type),
            !message.messageID.isEmpty, try mayKnow(message.sender)
        else { return }
        let receipt = Element(
            "message", xmlns: "jabber:client",
            attributes: ["to": message.sender.description, "type": message.type, "id": "receipt-\(message.messageID)"],
            children: [Element("received", xmlns: ReceiptsFeature.namespace, attributes: ["id": message.messageID])])
        // An id that is too long to be taken back is not answered.
        do { try step.send(receipt) } catch is StanzaTooLong {}
    }

    /// A receipt shows that the account is online: subscribers may know, and those whom the user has written to.
    private func mayKnow(_ sender: JID) throws -> Bool {
        if try Subscribers(step: step).mayKnow(sender) == .may { return true }
        return try step.database.statement(
            "SELECT 1 FROM message WHERE account = ? AND conversation = ? AND direction = 'out' LIMIT 1"
        ).first([.integer(step.account.id), .text(sender.bare.description)]) { _ in true } ?? false
    }
}
