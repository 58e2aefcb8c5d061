import KalijClient

/// Which messages of a conversation cause notifications, and what can be chosen instead.
public struct NotificationChoice: Sendable, Equatable {
    let notify: NotifyChoice
    /// The end of hours without notifications, in milliseconds since 1970.
    let mutedUntil: Int64?
    let isGroup: Bool

    /// The choice in words.
    /// - Parameter time: the words for a time to come.
    public func words(_ time: (Int64) -> String) -> String {
        if notify != .none, let mutedUntil { return Words.mutedUntil(time(mutedUntil)) }
        return switch notify {
        case .none: Words.isMuted
        case .mentions: Words.mentionsOnlyState
        case .all, .mutedUntil: Words.notifiesAll
        }
    }

    /// The actions that change the choice.
    public var actions: [ConversationAction] {
        var actions: [ConversationAction] = mutedUntil == nil ? [.mute(hours: 1), .mute(hours: 8)] : [.unmute]
        switch notify {
        case .none:
            // Hours without notifications change nothing.
            actions = mutedUntil == nil ? [] : [.unmute]
            actions += isGroup ? [.mentionsOnly, .notifyAlways] : [.notifyAlways]
        case .mentions: actions += [.muteAlways, .notifyAlways]
        case .all, .mutedUntil: actions += isGroup ? [.mentionsOnly, .muteAlways] : [.muteAlways]
        }
        return actions
    }
}

extension ConversationAction {
    /// What the action has done to notifications, in words; nil for another action.
    /// - Parameters:
    ///   - now: milliseconds since 1970.
    ///   - time: the words for a time to come.
    public func outcome(now: Int64, _ time: (Int64) -> String) -> String? {
        switch self {
        case .mute(let hours): Words.mutedUntil(time(now + Int64(hours) * 3_600_000))
        case .muteAlways: Words.isMuted
        case .mentionsOnly: Words.notifications(Words.mentionsOnlyState)
        case .notifyAlways: Words.notifications(Words.notifiesAll)
        case .unmute: Words.notMuted
        case .markRead, .pin, .unpin, .hide, .unhide: nil
        }
    }
}
