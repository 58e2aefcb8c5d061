import KalijAddress
import KalijClient

/// An action on a conversation of the list.
public enum ConversationAction: Sendable, Equatable {
    case markRead
    case pin
    case unpin
    case hide
    case unhide
    /// No notifications for some hours.
    case mute(hours: Int)
    /// No notifications.
    case muteAlways
    /// In a group, notifications of mentions alone.
    case mentionsOnly
    /// Notifications of all messages.
    case notifyAlways
    /// The end of hours without notifications.
    case unmute

    public var words: String {
        switch self {
        case .markRead: Words.markAsRead
        case .pin: Words.pin
        case .unpin: Words.unpin
        case .hide: Words.hide
        case .unhide: Words.unhide
        case .mute(let hours): Words.mute(hours: hours)
        case .muteAlways: Words.muteAlways
        case .mentionsOnly: Words.mentionsOnly
        case .notifyAlways: Words.notifyAlways
        case .unmute: Words.unmute
        }
    }

    /// The change of settings; nil for ``markRead``, which is no setting.
    /// - Parameter now: milliseconds since 1970.
    public func change(of jid: JID, now: Int64) -> ChangeSettings? {
        var change = ChangeSettings(for: jid)
        switch self {
        case .markRead: return nil
        case .pin: change.pinned = true
        case .unpin: change.pinned = false
        case .hide: change.hidden = true
        case .unhide: change.hidden = false
        case .mute(let hours): change.setNotify(.mutedUntil(now + Int64(hours) * 3_600_000))
        case .muteAlways: change.setNotify(.none)
        case .mentionsOnly: change.setNotify(.mentions)
        case .notifyAlways: change.setNotify(.all)
        case .unmute: change.setNotify(.mutedUntil(0))
        }
        return change
    }
}

extension ConversationRow {
    /// The actions that the conversation permits, in sections of a menu; none for a message that a search has found.
    public var actions: [[ConversationAction]] {
        guard found == nil, creation == nil else { return [] }
        return [
            unread > 0 ? [.markRead] : [],
            [isPinned ? .unpin : .pin, isHidden ? .unhide : .hide],
            notifications.actions,
        ]
    }

    public var notifications: NotificationChoice {
        NotificationChoice(notify: notify, mutedUntil: mutedUntil, isGroup: isGroup)
    }
}
