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
        if let creation = row.creation { return showMenu(of: creation, row.key, place, at: bounds) }
        let sections = row.actions.map { actions in
            actions.map { action in MenuItem(action.words) { [weak self] in self?.onAction(action, row) } }
        }
        ContextMenu.show(sections, over: root, at: bounds) { [weak self] in self?.list.focusRow(or: place) }
    }

    /// The menu of a group whose creation has failed; a creation that continues has none.
    func showMenu(ofCreation place: Int) {
        guard list.rows.indices.contains(place), let bounds = list.bounds(of: place, in: root) else { return }
        showMenu(of: place, at: bounds)
    }

    private func showMenu(
        of creation: CreationState, _ key: ConversationKey, _ place: Int, at bounds: GdkRectangle
    ) {
        guard creation.isFailed else { return Announcer.say(creation.words) }
        let items = ConversationRow.CreationAction.allCases.map { action in
            MenuItem(action.words) { [weak self] in self?.onCreation(action, creation, key) }
        }
        ContextMenu.show([items], over: root, at: bounds) { [weak self] in self?.list.focusRow(or: place) }
    }
}
