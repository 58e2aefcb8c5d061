import CAdwaita
import KalijApp

/// The menu of a conversation.
extension ConversationsScreen {
    func listenForActions() {
        list.listenForMenu(over: root) { [weak self] place, at in self?.showMenu(of: place, at: at) }
    }

    private func showMenu(of place: Int, at bounds: GdkRectangle) {
        guard list.rows.indices.contains(place) else { return }
        let row = list.rows[place]
        let sections = row.actions.map { actions in
            actions.map { action in MenuItem(action.words) { [weak self] in self?.onAction(action, row) } }
        }
        ContextMenu.show(sections, over: root, at: bounds) { [weak self] in self?.list.focusRow(or: place) }
    }
}
