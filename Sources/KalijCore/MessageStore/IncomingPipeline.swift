import KalijAddress
import KalijStream
import KalijXML

/// The path of every incoming message into the database, for all sources.
///
/// 1. A wrapper is checked and unwrapped: only the account's own server may send copies, and only the queried archive results
/// (`Dispatcher`).
/// 2. An error settles the message that it refuses.
/// 3. The message is parsed (``IncomingMessage``), and every processor is called (``MessageProcessor/process(_:in:)``).
/// 4. A message to keep is stored, once; observers are notified of the new row (``StoredMessageObserver/didStore(_:from:in:)``).
package struct IncomingPipeline {
    package let step: Step

    package init(step: Step) { self.step = step }

    /// Processes a delivered message without its wrapper; `position` is the order number reserved for the message, if any.
    package func deliver(_ message: Element, _ source: IncomingMessage.Source, at position: Int64? = nil) throws {
        let messages = MessageWriter(step: step)
        if MessageKind.error.isWritten(in: message) {
            for processor in step.hooks.messageProcessors where try processor.handlesError(message, in: step) { return }
            return try messages.refused(message)
        }
        var incoming = IncomingMessage(
            message, source, account: step.account.jid, stampedBy: try trusted(message), now: step.now)
        try arrive(&incoming)
        guard incoming.isKept else { return }
        try messages.deliver(incoming, at: position)
    }

    /// Processes a message returned by an archive; nil if there is no message to keep. An error in the account's own archive counts as
    /// a delivered error.
    /// - Parameter isOlder: whether the result belongs to a backfill of older history.
    package func archived(_ archived: ArchivedMessage, isOlder: Bool = false) throws -> IncomingMessage? {
        guard archived.isOfItsArchive else { return nil }
        if archived.archive.isOwn, MessageKind.error.isWritten(in: archived.message) {
            try MessageWriter(step: step).refused(archived.message)
            return nil
        }
        var incoming = IncomingMessage(archived, account: step.account.jid, now: step.now)
        incoming.isOlder = isOlder
        try arrive(&incoming)
        return incoming.isKept ? incoming : nil
    }

    /// The address whose stanza-id in a delivered message is trusted (XEP-0359 section 5): the address of the archive, if disco has
    /// shown that the archive stamps messages. Then the archive also removes forged ids.
    private func trusted(_ message: Element) throws -> JID? {
        guard MessageKind.groupchat.isWritten(in: message), let room = message["from"].map({ JID.received($0).bare })
        else {
            return step.transaction.trustsArchive ? step.account.jid : nil
        }
        return try step.hooks.roomProviders.contains { try $0.trustsStanzaIDs(of: room, in: step) } ? room : nil
    }

    private func arrive(_ message: inout IncomingMessage) throws {
        message.readContent()
        for processor in step.hooks.messageProcessors { try processor.process(&message, in: step) }
    }
}
