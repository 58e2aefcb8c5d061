/// An action on a message of the open conversation.
public enum MessageAction: Sendable, CaseIterable {
    case resend, reply, react, correct, copy, readers, retract, forget

    public var words: String {
        switch self {
        case .resend: Words.sendAgain
        case .reply: Words.reply
        case .react: Words.react
        case .correct: Words.correct
        case .copy: Words.copyText
        case .readers: Words.whoHasRead
        case .retract: Words.retractForAll
        case .forget: Words.deleteHere
        }
    }

    /// The keys of the action while the message is selected, in GTK's notation; nil for an action that Enter performs.
    public var keys: String? {
        switch self {
        case .resend, .readers: nil
        case .reply: "<Control>r"
        case .react: "<Control>period"
        case .correct: "<Control>e"
        case .copy: "<Control>c"
        case .retract: "<Shift>Delete"
        case .forget: "Delete"
        }
    }

    /// Whether the action removes a text: such actions are a section of their own.
    public var isDestructive: Bool { self == .retract || self == .forget }
}

extension MessageRow {
    /// The actions that the message permits. A message in the mailbox has no row, and an unsent one no id for others.
    public var actions: [MessageAction] {
        guard id > 0 else { return isNotice ? [] : [.copy] }
        guard !isNotice else { return [.forget] }
        let isSent = !isOwn || !(state?.isFailure ?? false)
        return MessageAction.allCases.filter { action in
            switch action {
            case .resend: isOwn && file == nil && state?.isProblem ?? false
            case .reply, .react: isSent && isReferable
            case .correct: isOwn && isSent && file == nil
            case .copy: file == nil
            case .readers: reading != nil
            case .retract: isOwn && isSent && isReferable
            case .forget: true
            }
        }
    }
}

extension Page {
    /// Removes the message `id`, which the user is deleting.
    public mutating func remove(_ id: Int64) {
        guard let place = messages.firstIndex(where: { $0.id == id }) else { return }
        messages.remove(at: place)
        let after = gaps.filter { $0.key > place }
        gaps = gaps.filter { $0.key <= place }
        for (key, rows) in after { gaps[key - 1, default: []] += rows }
    }

    /// The message `id` as it is now, if it still permits `action`.
    public func message(_ id: Int64, for action: MessageAction) -> MessageRow? {
        messages.first { $0.id == id }.flatMap { $0.actions.contains(action) ? $0 : nil }
    }
}
