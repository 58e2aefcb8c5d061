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
        let jid = JID.received(row.key.jid)
        guard let change = action.change(of: jid, now: Int64(g_get_real_time() / 1000)) else {
            if let newest = row.newest { accept(MarkRead(jid, through: .row(newest)), in: row.key) }
            return
        }
        accept(change, in: row.key) { window in
            guard action == .hide else { return }
            window.toast(Words.hiddenNow(row.name)) { [weak window] in window?.act(.unhide, on: row) }
        }
    }
}
