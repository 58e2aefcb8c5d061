import CAdwaita
import KalijAddress
import KalijApp
import KalijClient

/// The actions on conversations of the list.
extension MainWindow {
    func connectConversationActions() {
        conversations.listenForActions()
        conversations.onAction = { [weak self] action, row in self?.act(action, on: row) }
    }

    private func act(_ action: ConversationAction, on row: ConversationRow) {
        switch action {
        case .markRead:
            if let newest = row.newest { accept(MarkRead(.received(row.key.jid), through: .row(newest)), in: row.key) }
        case .hide:
            act(action, in: row.key) { window, _ in
                window.toast(Words.hiddenNow(row.name)) { [weak window] in window?.act(.unhide, in: row.key) { _, _ in }
                }
            }
        default:
            act(action, in: row.key) { window, words in if let words { window.toast(Words.said(row.name, words)) } }
        }
    }

    /// Changes the settings of a conversation.
    /// - Parameter done: called with what that means for its notifications, in words.
    func act(_ action: ConversationAction, in key: ConversationKey, done: @escaping (MainWindow, String?) -> Void) {
        let now = wallNow()
        guard let change = action.change(of: .received(key.jid), now: now) else { return }
        accept(change, in: key) { window in
            done(window, action.outcome(now: now, Times.until))
        }
    }

    /// The same from a page, whose button then has the words: a toast would take the next Escape.
    func notify(_ action: ConversationAction, in key: ConversationKey) {
        act(action, in: key) { _, words in if let words { Announcer.say(words) } }
    }
}
