import KalijStore

/// A stored message.
public struct Message: Sendable, Equatable {
    /// The local row: unique, not an order. Negative while the message waits in the mailbox for the driver
    /// (``AccountDirectory/share(_:to:from:id:clock:)``).
    public let id: Int64
    /// Whether the message came or went.
    public let direction: Direction
    /// The id of the message in the account's archive (XEP-0359).
    public let stanzaID: String?
    /// The sender's id of the message (XEP-0359).
    public let originID: String?
    /// The canonical address of the sender.
    public let from: String
    /// The canonical address of the recipient.
    public let to: String
    /// RFC 6121 5.2.2: `chat`, `normal`, `groupchat`, `headline`, `error`.
    public let type: String
    /// The text; nil if the message has none.
    public let body: String?
    /// Milliseconds since 1970; the server's stamp, if there is one.
    public let sentAt: Int64
    /// The state of an outgoing message; nil for incoming messages.
    public let state: MessageState?
    /// Why the message failed.
    public let error: String?
    /// False if the session of the message was lost before the server acknowledged the message.
    public let isSettled: Bool

    /// - Parameter row: has columns of these names.
    package init(_ row: Row) {
        id = row.integer("id")
        direction = Direction(rawValue: row.text("direction")) ?? .incoming
        stanzaID = row.optionalText("stanza_id")
        originID = row.optionalText("origin_id")
        from = row.text("sender")
        to = row.text("recipient")
        type = row.text("type")
        body = row.optionalText("body")
        sentAt = row.integer("sent_at")
        state = row.optionalText("state").flatMap(MessageState.init)
        error = row.optionalText("error")
        isSettled = row.bool("settled")
    }

    package init(
        id: Int64, direction: Direction, stanzaID: String?, originID: String?, from: String, to: String, type: String,
        body: String?, sentAt: Int64, state: MessageState?, error: String? = nil, isSettled: Bool = true
    ) {
        self.id = id
        self.direction = direction
        self.stanzaID = stanzaID
        self.originID = originID
        self.from = from
        self.to = to
        self.type = type
        self.body = body
        self.sentAt = sentAt
        self.state = state
        self.error = error
        self.isSettled = isSettled
    }

    /// The message at the time when it reached `state`.
    package func inState(_ state: MessageState, isSettled: Bool = true) -> Message {
        Message(
            id: id, direction: direction, stanzaID: stanzaID, originID: originID, from: from, to: to, type: type,
            body: body, sentAt: sentAt, state: state, error: state == .failed ? error : nil, isSettled: isSettled)
    }
}
