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

    /// - Parameter row: begins with the columns of ``load(_:from:)``.
    package init(_ row: Row) {
        id = row.integer(0)
        direction = Direction(rawValue: row.text(1)) ?? .incoming
        stanzaID = row.optionalText(2)
        originID = row.optionalText(3)
        from = row.text(4)
        to = row.text(5)
        type = row.text(6)
        body = row.optionalText(7)
        sentAt = row.integer(8)
        state = row.optionalText(9).flatMap(MessageState.init)
        error = row.optionalText(10)
        isSettled = row.bool(11)
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
