import FoundationEssentials
import KalijClient

/// Says where to look: what may have changed.
public enum Look: Sendable, Equatable {
    /// A conversation: messages, unread, draft.
    case conversation(ConversationKey)
    /// The name or the picture of a conversation; what is not in the list may belong there.
    case face(ConversationKey, mayBeNew: Bool)
    /// Rooms, requests, or more than is known.
    case everything
    case state(account: String, AccountStatus)
    case driving(Driving)
    /// Somebody begins or ends to write.
    case typing(ConversationKey, Bool)

    init?(_ news: DirectoryNews) {
        guard case .changed(let change) = news else {
            self = .everything
            return
        }
        let key = ConversationKey(account: change.account, jid: change.key)
        switch change.kind {
        case .conversation: self = change.key.isEmpty ? .everything : .conversation(key)
        case .contact, .room:
            self = change.key.isEmpty ? .everything : .face(key, mayBeNew: change.kind == .room)
        case .typing: self = .typing(key, change.value == "composing")
        case .state:
            guard let state = AccountStatus(change.value) else { return nil }
            self = .state(account: change.account, state)
        // The bytes of transfers are not shown yet.
        case .transfer where change.value != nil: return nil
        case .transfer, .request: self = .everything
        }
    }
}

extension AccountStatus {
    /// The state as the driver tells it; nil if it is told in words of a newer version.
    init?(_ value: String?) {
        guard let value, let told = try? JSONDecoder().decode(AccountState.self, from: Data(value.utf8)) else {
            return nil
        }
        if let problem = told.storageProblem {
            self = .noStorage(problem.shownLine)
            return
        }
        self =
            switch told.stage {
            case .connecting: .connecting
            case .online: .online
            case .offline: .offline(since: told.since, why: told.reason.map(Words.why))
            case .refused: .refused
            }
    }
}
