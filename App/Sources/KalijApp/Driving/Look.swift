import FoundationEssentials
import KalijClient

/// A change of the directory, or of the backend's state, that the app has to display.
public enum Look: Sendable, Equatable {
    /// A conversation: messages, unread, draft.
    case conversation(ConversationKey)
    /// The name or the picture of a conversation, which may not be in the list yet.
    case face(ConversationKey, mayBeNew: Bool)
    /// Rooms, requests, or an unspecified change.
    case everything
    case state(account: String, AccountStatus)
    case driving(Driving)
    /// More of a file was transferred: of the upload, or of the message with the file.
    case transfer(account: String, String, bytes: Int64)
    /// The peer starts or stops composing (XEP-0085).
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
        case .transfer:
            let bytes = change.value.flatMap { Int64($0) }
            self = bytes.map { .transfer(account: change.account, change.key, bytes: $0) } ?? .everything
        case .request, .account: self = .everything
        }
    }
}

extension AccountStatus {
    /// The state as published by the driver; nil if a newer version encoded it.
    init?(_ value: String?) {
        guard let value, let told = try? JSONDecoder().decode(AccountState.self, from: Data(value.utf8)) else {
            return nil
        }
        if let problem = told.storageProblem {
            self = .noStorage(Words.why(problem))
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
