import KalijAddress
import KalijClient

extension Backend {
    /// Performs what the user does with a notification, other than to open it.
    /// - Returns: false if the user has to decide on new devices first: a reply is the conversation's draft then, and nothing is sent.
    /// - Throws: the error of the intent's check, if the account was removed for example.
    public func perform(
        _ action: NotificationAction, on target: NotificationTarget, reading reader: Reader
    ) async throws -> Bool {
        if case .reply(let text) = action {
            if case .undecided? = try await reader.keyQuestion(target.key) {
                try await keepDraft(text, after: reader.draft(target.key), for: target.key)
                return false
            }
            try await reply(text, to: target)
        }
        guard action != .open else { return true }
        try await read(through: target.message, in: target.key)
        return true
    }

    /// Keeps a text that is not sent yet behind the draft of a conversation.
    public func keepDraft(_ text: String, after draft: StoredDraft, for key: ConversationKey) async throws {
        try await keepDraft(draft.followed(by: text), for: key, answering: draft.composing.answered)
    }

    /// Accepts a reply, once for each notification.
    private func reply(_ text: String, to target: NotificationTarget) async throws {
        guard text.contains(where: { !$0.isWhitespace }) else { return }
        let (recipient, sender) = (try JID(target.key.jid), try JID(target.key.account))
        if let engine = running {
            try await engine.accept(text, to: recipient, from: sender, id: target.id)
        } else {
            let directory = directory
            try await onOwnThread { _ = try directory.share(text, to: recipient, from: sender, id: target.id) }
        }
    }
}
