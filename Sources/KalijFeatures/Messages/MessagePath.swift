import KalijSteps
import KalijXML

/// The one way of a message into the database, whatever brought it.
///
/// 1. The wrapper is opened, if there is one, and checked: only the account's own server copies, and only the archive that was asked
///    shows results (`Dispatcher`).
/// 2. An error settles the message that it answers.
/// 3. The message is taken apart (``IncomingMessage``), and every feature has its turn (``Feature/arrived(_:in:)``).
/// 4. What is kept is stored, once; of a new row every feature is told (``Feature/stored(_:from:in:)``).
struct MessagePath {
    package let step: Step

    /// A message that was delivered, without its wrapper; `position` is the order number that was kept for it, if one was.
    func deliver(_ message: Element, _ source: IncomingMessage.Source, at position: Int64? = nil) throws {
        let messages = Messages(step: step)
        if message["type"] == "error" { return try messages.refused(message) }
        var incoming = IncomingMessage(
            message, source, account: step.account.jid, stampedBy: try messages.trusted(message), now: step.now)
        try arrive(&incoming)
        guard incoming.isKept else { return }
        try messages.deliver(incoming, at: position)
    }

    /// What an archive has shown, after all features had their turn; nil for what is no message to keep. In the account's own archive an
    /// error says what any other does.
    package func archived(_ archived: ArchivedMessage) throws -> IncomingMessage? {
        guard archived.isOfItsArchive else { return nil }
        if archived.archive.isOwn, archived.message["type"] == "error" {
            try Messages(step: step).refused(archived.message)
            return nil
        }
        var incoming = IncomingMessage(archived, account: step.account.jid, now: step.now)
        try arrive(&incoming)
        return incoming
    }

    private func arrive(_ message: inout IncomingMessage) throws {
        for feature in step.features.all { try feature.arrived(&message, in: step) }
    }
}
