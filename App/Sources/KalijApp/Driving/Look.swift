import KalijClient

/// Says where to look: what may have changed.
public enum Look: Sendable, Equatable {
    /// A conversation: messages, unread, draft.
    case conversation(ConversationKey)
    /// Names, rooms, or more than is known.
    case everything
    case state(account: String, AccountState)
    case driving(Driving)
    /// Somebody begins or ends to write.
    case typing(ConversationKey, Bool)

    init?(_ event: EngineEvent) {
        let account = event.account.description
        switch event.content {
        case let event as any MessageEvent:
            self = .conversation(ConversationKey(account: account, jid: event.message.conversation))
        case let unread as UnreadChanged:
            self = .conversation(ConversationKey(account: account, jid: unread.conversation))
        case let typing as Typing:
            let key = ConversationKey(account: account, jid: typing.sender.bare.description)
            self = .typing(key, typing.state == .composing)
        case is Connecting: self = .state(account: account, .connecting)
        case is Online: self = .state(account: account, .online)
        case is Offline: self = .state(account: account, .offline(since: event.at))
        case is Refused: self = .state(account: account, .refused)
        case let storage as WaitingForStorage: self = .state(account: account, .noStorage(storage.reason.shownLine))
        case is StorageAvailable: self = .state(account: account, .online)
        // What an intent has changed has an event of its own.
        case is PresenceChanged, is SlowStep, is OccupantChanged, is IntentEnded: return nil
        default: self = .everything
        }
    }
}
