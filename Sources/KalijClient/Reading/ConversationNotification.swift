import KalijAddress
import KalijFeatures
import KalijStore

/// The notification of a conversation, for a presenter that shows one for each conversation.
public struct ConversationNotification: Sendable {
    /// The newest message of which the user is notified; nil if there is none, or none any more: the notification is withdrawn.
    public let newest: Message?
    /// The number of messages of which the user is notified.
    public let count: Int
    /// Whether the notification contains sender and text.
    public let showsText: Bool
    /// What the presenter has reported for the shown notification (``Notifications/shown(_:handle:)``); nil without a report.
    public let handle: String?
}

extension ConversationNotification {
    /// The notification of the conversation with `jid` (``Notification/peer``): only messages that were delivered to
    /// ``RunningEngine/notifications`` count.
    /// - Throws: `StoreError`
    public init(with jid: JID, in conversations: Conversations) throws {
        self = try conversations.database.reading {
            let (database, account) = (conversations.database, conversations.account.id)
            let (outbox, conversation) = (NotificationOutbox(database: database), jid.description)
            let shown = try outbox.shown(of: account, in: conversation)
            return ConversationNotification(
                newest: try shown.flatMap { try conversations.view($0.newest) }, count: shown?.count ?? 0,
                showsText: try conversations.settings(for: jid).preview,
                handle: try outbox.handle(of: account, in: conversation))
        }
    }

    /// The handles of all shown notifications of the account (``handle``), by ``Notification/peer``.
    /// - Throws: `StoreError`
    public static func handles(in conversations: Conversations) throws -> [(peer: String, handle: String)] {
        let database = conversations.database
        return try database.reading {
            try NotificationOutbox(database: database).handles(of: conversations.account.id)
        }
    }
}
