import CAdwaita
import KalijApp

/// The actions on conversations of the list.
extension MainWindow {
    func connectConversationActions() {
        conversations.listenForActions()
        conversations.onAction = { [weak self] action, row in self?.act(action, on: row) }
    }

    private func act(_ action: ConversationAction, on row: ConversationRow) {
        writes.add { [weak self] in
            guard let self else { return }
            let now = Int64(g_get_real_time() / 1000)
            do { try await backend.perform(action, on: row.key, newest: row.newest, now: now) } catch {
                return toast(Words.notAccepted("\(error)".shownName))
            }
            dirty.insert(row.key)
            look()
            if action == .hide { toast(Words.hiddenNow(row.name)) { [weak self] in self?.act(.unhide, on: row) } }
        }
    }
}
