/// What a notification's action refers to: a message in a conversation, as it was displayed.
public struct NotificationTarget: Sendable, Equatable {
    public let key: ConversationKey
    /// The row of the newest message that the notification displays.
    public let message: Int64
    /// Identifies this notification: a reply is accepted once under this id.
    public let id: String

    public init(key: ConversationKey, message: Int64, id: String) {
        (self.key, self.message, self.id) = (key, message, id)
    }

    /// The target as the desktop stores it. A bare address of an account has no spaces.
    public var text: String { "\(message) \(id) \(key.account) \(key.jid)" }

    /// - Returns: nil if another program made it up.
    public init?(_ text: String) {
        let parts = text.split(separator: " ", maxSplits: 3).map(String.init)
        guard parts.count == 4, let message = Int64(parts[0]), message > 0 else { return nil }
        self.init(key: ConversationKey(account: parts[2], jid: parts[3]), message: message, id: parts[1])
    }
}

/// A notification of a conversation, a plain value.
public struct NotificationContent: Sendable, Equatable {
    /// The row of the newest message.
    public var message: Int64
    public var title: String
    public var body: String
}

/// The notification of a conversation as stored.
public struct StoredNotification: Sendable, Equatable {
    /// Nil if there is none any more.
    public var content: NotificationContent?
    /// What the presenter has reported for the shown notification.
    public var handle: String?
}

/// What the user does with a notification.
public enum NotificationAction: Sendable, Equatable {
    /// Opens the conversation, to read or to reply.
    case open
    case markAsRead
    /// Sends a reply that was written in the notification.
    case reply(String)
}
