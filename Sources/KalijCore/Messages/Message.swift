import KalijAddress
import KalijStore

/// A stored message.
public struct Message: Sendable, Equatable {
    /// The local row: given to no other message, also after a removal; later stored messages have higher ones. Not the order in
    /// which messages are shown. Negative while the message waits in the mailbox for the driver
    /// (``AccountDirectory/share(_:to:from:id:answering:privacy:endsDraft:clock:)``).
    public package(set) var id: Int64
    /// Whether the message is incoming or outgoing.
    public let direction: Direction
    /// The bare address of the other side.
    public let conversation: String
    /// The id of the stanza; empty if there is none.
    public let messageID: String
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
    /// The text, as corrected last; nil if the message has none, or was retracted.
    public let body: String?
    /// Whether the message is a line of the conversation.
    public let isShown: Bool
    /// When the text was corrected last (XEP-0308), in milliseconds since 1970; nil if the text is the original.
    public let editedAt: Int64?
    /// Why the text was removed; nil if it was not.
    public let erasure: Erasure?
    /// The id of the original, if the message corrects a message that is not stored here (XEP-0308).
    public let corrects: String?
    /// The id of the message that this message answers (XEP-0461); nil if there is none.
    public let repliesTo: String?
    /// The answered message; nil if there is none, or if it is not stored here. Events do not have it.
    public package(set) var answered: QuotedMessage?
    /// The author of the message in a room, as far as proven; nil for the user's own messages, and outside of rooms.
    public let roomAuthor: RoomAuthor?
    /// How the message was encrypted, and whether it could be read; nil for a plain text in a plain conversation.
    public let encryption: MessageEncryption?
    /// The reactions to the message (XEP-0444).
    public package(set) var reactions: [Reaction] = []
    /// Whether the author's retraction of the encrypted message arrived unencrypted: such a retraction does not count, because
    /// any intermediary can have written it (XEP-0424).
    public package(set) var isRetractedInPlain = false
    /// The file that the message shares; nil if there is none.
    public private(set) var file: MessageFile?
    /// Milliseconds since 1970; the server's stamp, if there is one.
    public let sentAt: Int64
    /// The state of an outgoing message; nil for incoming messages.
    public package(set) var state: MessageState?
    /// Who has read the user's message in a group; nil for all other messages. Events do not have it.
    public package(set) var reading: GroupReading?
    /// What a queued message waits for; nil for all other messages. Events do not have it.
    public package(set) var waitsFor: WaitReason?
    /// Why the message failed.
    public private(set) var error: Reason?
    /// False if the session of the message was lost before the server acknowledged the message.
    public private(set) var isSettled: Bool

    /// - Parameter row: has columns of these names.
    package init(_ row: Row) {
        id = row.integer("id")
        direction = Direction(rawValue: row.text("direction")) ?? .incoming
        conversation = row.text("conversation")
        messageID = row.text("message_id")
        stanzaID = row.optionalText("stanza_id")
        originID = row.optionalText("origin_id")
        from = row.text("sender")
        to = row.text("recipient")
        type = row.text("type")
        body = row.optionalText("body")
        isShown = row.bool("shown")
        editedAt = row.optionalInteger("edited_at")
        erasure = row.optionalText("erased").flatMap(Erasure.init)
        corrects = row.optionalText("corrects")
        repliesTo = row.optionalText("reply_to")
        encryption = row.optionalText("encryption").map(MessageEncryption.init(stored:))
        sentAt = row.integer("sent_at")
        state = row.optionalText("state").flatMap(MessageState.init)
        error = row.optionalText("error").map(Reason.init(stored:))
        isSettled = row.bool("settled")
        roomAuthor = row.optionalText("author").flatMap { RoomAuthor($0) }
    }

    package init(
        id: Int64, direction: Direction, conversation: String, messageID: String, stanzaID: String?, originID: String?,
        from: String,
        to: String, type: String, body: String?, isShown: Bool, repliesTo: String? = nil,
        encryption: MessageEncryption? = nil, roomAuthor: RoomAuthor? = nil, sentAt: Int64, state: MessageState?
    ) {
        self.id = id
        self.direction = direction
        self.conversation = conversation
        self.messageID = messageID
        self.isShown = isShown
        self.repliesTo = repliesTo
        self.encryption = encryption
        self.roomAuthor = roomAuthor
        (editedAt, erasure, corrects) = (nil, nil, nil)
        self.stanzaID = stanzaID
        self.originID = originID
        self.from = from
        self.to = to
        self.type = type
        self.body = body
        self.sentAt = sentAt
        self.state = state
        error = nil
        isSettled = true
    }

    /// Whether the message belongs to a room, addressed to all or to an occupant alone.
    package var isInRoom: Bool { type == "groupchat" || !JID.received(conversation).isBare }

    /// The bare address of the author. In a room, where the sender's address names only a nickname, the address that the room has shown;
    /// nil if it has shown none (``roomAuthor``), and for the user's own messages.
    public var author: String? {
        guard !isInRoom else { return roomAuthor?.address }
        return direction == .incoming ? conversation : JID.received(from).bare.description
    }

    /// The message with `file`.
    package func with(_ file: MessageFile) -> Message {
        var message = self
        message.file = file
        return message
    }

    /// The message at the time when it reached `state`.
    package func inState(_ state: MessageState, isSettled: Bool = true) -> Message {
        var message = self
        message.state = state
        message.isSettled = isSettled
        if state != .failed { message.error = nil }
        return message
    }
}

/// Why the text of a message was removed.
public enum Erasure: String, Sendable {
    /// The author has retracted the message (XEP-0424).
    case retracted
    /// The room has removed the message (XEP-0425).
    case moderated
    /// The user has removed the message from this directory.
    case forgotten
}

/// The reactions of an author to a message (XEP-0444).
public struct Reaction: Sendable, Equatable {
    /// The author's bare address; in a room that does not show addresses to all, the occupant's address at that time.
    public let author: String
    /// The emoji, in the author's order.
    public let emoji: [String]
    /// Whether the reactions to an encrypted message arrived unencrypted: any intermediary can have written them.
    public let isPlain: Bool

    package init(author: String, emoji: [String], isPlain: Bool = false) {
        (self.author, self.emoji, self.isPlain) = (author, emoji, isPlain)
    }
}
