import KalijStore

/// A message as it is stored.
public struct Message: Sendable, Equatable {
    /// The local row: unique, not an order. Negative while the message waits in the mailbox (``AccountDirectory/share(_:to:from:id:clock:)``)
    /// for the process that drives.
    public let id: Int64
    /// Whether it came or went.
    public let direction: Direction
    /// The id that the account's archive gave it (XEP-0359).
    public let stanzaID: String?
    /// The id that its sender gave it (XEP-0359).
    public let originID: String?
    /// Canonical addresses.
    public let from: String
    /// The canonical address that it was sent to.
    public let to: String
    /// RFC 6121 5.2.2: `chat`, `normal`, `groupchat`, `headline`, `error`.
    public let type: String
    /// What it says; nil if it carries something else.
    public let body: String?
    /// Milliseconds since 1970; as the server stamped it, if it did.
    public let sentAt: Int64
    /// Of an outgoing message.
    public let state: MessageState?
    /// Why it failed.
    public let error: String?
    /// False if the session in which it was sent was lost before the server acknowledged it.
    public let isSettled: Bool

    /// - Parameter row: has the columns that are read here, under these names.
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

    /// The message as it was when it had come to `state`.
    package func inState(_ state: MessageState, isSettled: Bool = true) -> Message {
        Message(
            id: id, direction: direction, stanzaID: stanzaID, originID: originID, from: from, to: to, type: type,
            body: body, sentAt: sentAt, state: state, error: state == .failed ? error : nil, isSettled: isSettled)
    }
}
