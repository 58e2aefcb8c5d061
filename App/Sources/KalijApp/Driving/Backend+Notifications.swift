import KalijAddress
import KalijClient

extension Backend {
    /// Performs what the user does with a notification, other than to open it.
    /// - Throws: the error of the intent's check, if the account was removed for example.
    public func perform(_ action: NotificationAction, on target: NotificationTarget) async throws {
        if case .reply(let text) = action { try await reply(text, to: target) }
        guard action != .open else { return }
        try await read(through: target.message, in: target.key)
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
