import KalijAddress
import KalijClient

extension Reader {
    /// The notification of a conversation; nil if the account was removed.
    public func notification(_ key: ConversationKey) throws -> StoredNotification? {
        guard let account = try account(of: key) else { return nil }
        let conversations = try conversations(account)
        let stored = try ConversationNotification(with: .received(key.jid), in: conversations)
        guard let newest = stored.newest else { return StoredNotification(content: nil, handle: stored.handle) }
        let face = try conversations.conversation(with: .received(key.jid))
        let name = face.name?.shownName ?? key.jid.shownName
        let row = MessageRow(newest, name: name, account: key.account, people: try people(of: account))
        let text = face.isRoom ? Words.said(row.author, row.text.shownStart) : row.text.shownStart
        let content = NotificationContent(
            message: newest.id, title: stored.showsText ? name : Words.newMessage,
            body: stored.showsText ? text : "")
        return StoredNotification(content: content, handle: stored.handle)
    }

    /// The handles of all shown notifications.
    public func notificationHandles() throws -> [(key: ConversationKey, handle: String)] {
        try accounts().flatMap { account in
            try ConversationNotification.handles(in: conversations(account)).map {
                (ConversationKey(account: account.jid.description, jid: $0.peer), $0.handle)
            }
        }
    }
}
