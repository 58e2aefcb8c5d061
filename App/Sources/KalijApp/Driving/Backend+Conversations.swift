import KalijAddress
import KalijClient

extension Backend {
    /// Performs an action on a conversation.
    /// - Parameters:
    ///   - newest: the row of the newest message, for ``ConversationAction/markRead``.
    ///   - now: milliseconds since 1970.
    /// - Throws: the error of the intent's check, if the account was removed for example.
    public func perform(_ action: ConversationAction, on key: ConversationKey, newest: Int64?, now: Int64) async throws
    {
        if let change = action.change(of: try JID(key.jid), now: now) {
            try await accept(change, for: key.account)
        } else if let newest {
            try await read(through: newest, in: key)
        }
    }
}
