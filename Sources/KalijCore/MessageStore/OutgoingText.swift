import KalijAddress
import KalijXML

/// A validated chat message with its final id.
package struct OutgoingText {
    package private(set) var stanza: OutgoingStanza
    /// Whether the message may have been accepted before: its id was specified by the caller.
    private let isRepeatable: Bool
    /// Whether the text was the conversation's draft, which is cleared in the same transaction.
    package var endsDraft = false

    /// The message that the text replies to.
    package let answered: AnsweredMessage?

    /// - Parameters:
    ///   - given: nil for a new id.
    ///   - answered: the message that the text replies to.
    ///   - privacy: whether the text is encrypted.
    /// - Throws: `AcceptError` for a text or an id that cannot be sent.
    package init(
        _ body: String, to recipient: JID, id given: String? = nil, answering answered: AnsweredMessage? = nil,
        privacy: EncryptionPreference = .asConversation
    ) throws(AcceptError) {
        let id = try OutgoingID(given).text
        let element = try Self.element(body)
        self.answered = answered
        stanza = OutgoingStanza(
            text: body, to: recipient, id: id, repliesTo: answered?.id,
            content: answered?.elements(body) ?? [element])
        stanza.privacy = privacy
        try Self.checkLength(of: stanza)
        isRepeatable = given != nil
    }

    package var id: String { stanza.id }
    package var privacy: EncryptionPreference { stanza.privacy }
    package var recipient: JID { stanza.recipient }
    package var body: String { stanza.body ?? "" }

    /// The `<body/>` with a text of the user.
    /// - Throws: `AcceptError` for a text that cannot be sent.
    package static func element(_ body: String) throws(AcceptError) -> Element {
        guard !body.isEmpty else { throw .empty }
        if let scalar = body.unicodeScalars.first(where: { !$0.isXML }) { throw .notXML(scalar.value) }
        return Element("body", text: body)
    }

    /// - Throws: `AcceptError.tooLong`
    package static func checkLength(of stanza: OutgoingStanza) throws(AcceptError) {
        let bytes = stanza.element().bytes(in: "jabber:client").count
        guard bytes <= OutgoingMessages.maxStanzaSize else { throw .tooLong(bytes) }
    }

    /// Stores and enqueues the message, unless a message was accepted under the same id before.
    package func accept(in step: Step) throws -> Message {
        // A draft begun after the message was accepted is another one, and stays.
        if let known = try known(in: step) { return known }
        if endsDraft { try Self.endDraft(for: recipient, in: step) }
        return try stanza.accept(in: step, sentAt: step.now)
    }

    /// Removes the draft for `recipient`, because it was accepted.
    package static func endDraft(for recipient: JID, in step: Step) throws {
        for observer in step.hooks.storedMessageObservers { try observer.didAcceptDraft(for: recipient, in: step) }
    }

    /// The message accepted before under the same id; nil if there is none.
    package func known(in step: Step) throws -> Message? {
        isRepeatable ? try Message.accepted(id, by: step.account, in: step.database) : nil
    }

    /// Stores and enqueues a message that was accepted before, and emits its event. A message that cannot be sent is stored as failed.
    @discardableResult
    package func enqueue(in step: Step, sentAt: Int64) throws -> Message {
        if endsDraft { try Self.endDraft(for: recipient, in: step) }
        return try stanza.enqueue(in: step, sentAt: sentAt)
    }

    /// - Parameter isForRoom: whether the recipient is a room of the account.
    package func message(of account: Account, row: Int64, isForRoom: Bool, sentAt: Int64) -> Message {
        stanza.message(of: account, row: row, isForRoom ? .groupchat : .chat, sentAt: sentAt)
    }
}
