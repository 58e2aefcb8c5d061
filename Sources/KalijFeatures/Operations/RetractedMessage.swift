import KalijSteps
import KalijStore

/// A message that was retracted. A server may erase it from its archive (XEP-0424; measured: ejabberd 24.12).
struct RetractedMessage {
    let step: Step
    let row: Int64

    /// A message of the user's has arrived if `retraction` was taken, and need not be in the archive.
    func settle(by retraction: Message) throws {
        guard retraction.direction == .outgoing, retraction.state?.isWithServer ?? false,
            let message = try Message.load(row, from: step.database), message.state == .sent,
            message.type != "groupchat"
        else { return }
        try Messages(step: step).acknowledged([row])
    }

    /// No reading of the archive may show any more where the message stood. Whoever had displayed the message has displayed the message
    /// before; and in a reading that would have shown the message by now, it stands behind what the reading has shown.
    func leavePlace() throws {
        var order = ArchiveOrder(database: step.database, account: step.account.id)
        let messages = StoredMessages(database: step.database, account: step.account.id)
        if let (_, conversation) = try messages.names(of: row), let before = try order.lastMessage(before: row) {
            try DisplayedPlaces(step: step).leave(row, for: before, in: conversation)
            try Markers(step: step).leave(row, for: before, by: conversation)
        }
        if try order.isUnshown(row) { try Messages(step: step).move(row, to: try step.nextPosition()) }
    }
}
