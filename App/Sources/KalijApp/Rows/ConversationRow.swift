import KalijClient

/// Identifies a conversation of an account.
public struct ConversationKey: Hashable, Sendable {
    /// The account's bare address.
    public let account: String
    /// The bare address of the peer.
    public let jid: String

    public init(account: String, jid: String) { (self.account, self.jid) = (account, jid) }
}

/// A row of the list of conversations, a plain value.
public struct ConversationRow: Sendable, Equatable {
    public var key: ConversationKey
    public var name: String
    /// The path of the verified picture; nil without one.
    public var picture: String?
    /// The preview of the last message.
    public var preview = ""
    /// The time of the last activity, in milliseconds since 1970; 0 if there was none.
    public var at: Int64 = 0
    public var unread = 0
    /// Whether an unread message mentions the user.
    public var isMentioned = false
    /// The row of the newest message.
    public var newest: Int64?
    public var draft: String?
    /// Whether the last message could not be sent.
    public var isFailed = false
    /// The messages that cause notifications.
    public var notify = NotifyChoice.all
    /// The end of hours without notifications, in milliseconds since 1970.
    public var mutedUntil: Int64?
    public var isPinned = false
    /// Whether only a search finds the conversation, until its next message.
    public var isHidden = false
    public var isGroup = false
    /// The state of a group in creation, whose key has the id of the creation; nil for a conversation.
    public var creation: CreationState?
    /// Whether to display the account, because there are several.
    public var showsAccount = false
    /// The row of a message that a search has found, whose text and time the row has; nil for the conversation itself.
    public var found: Int64?

    public init(key: ConversationKey, name: String) { (self.key, self.name) = (key, name) }

    public var isMuted: Bool { mutedUntil != nil || notify == .none }

    /// The line under the name.
    public var line: String {
        if let creation { return creation.words }
        if let draft { return Words.draft(draft) }
        return preview
    }

    /// The accessible name, which begins with the displayed name.
    public func spoken(_ time: String) -> String {
        var words = [name]
        if showsAccount { words.append(Words.account(key.account)) }
        if unread > 0 { words.append(Words.unread(unread)) }
        if isMentioned { words.append(Words.mentioned) }
        if isFailed { words.append(Words.notSent) }
        if isMuted { words.append(Words.muted) }
        if isPinned { words.append(Words.pinned) }
        if isHidden { words.append(Words.hidden) }
        if !line.isEmpty { words.append(found == nil ? line : Words.found(line)) }
        if at > 0, !time.isEmpty { words.append(time) }
        return words.joined(separator: ", ")
    }

    /// The order of the list: groups in creation, pinned conversations first, most recently active first.
    public static func isBefore(_ one: ConversationRow, _ other: ConversationRow) -> Bool {
        guard (one.creation == nil) == (other.creation == nil) else { return one.creation != nil }
        guard one.isPinned == other.isPinned else { return one.isPinned }
        return (one.at, other.key.jid, other.key.account) > (other.at, one.key.jid, one.key.account)
    }
}
