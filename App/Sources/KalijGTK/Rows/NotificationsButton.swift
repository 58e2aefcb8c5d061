import CAdwaita
import KalijApp

/// A button that says which messages of a conversation cause notifications, and opens a menu to change that.
final class NotificationsButton {
    let root = widget(OpaquePointer(gtk_button_new_with_label("")))
    var onChosen: (ConversationAction) -> Void = { _ in }
    private var choice: NotificationChoice?

    /// - Parameter parent: a box, over which the menu is shown.
    init(over parent: Widget) {
        // It outlives the boxes that it is put in.
        g_object_ref_sink(raw(root))
        root.wrapButton()
        connect(root, "clicked") { [weak self] _ in self?.showMenu(over: parent) }
    }

    func show(_ choice: NotificationChoice) {
        self.choice = choice
        let words = Words.notifications(choice.words(Times.until))
        guard gtk_button_get_label(cast(raw(root))).map({ String(cString: $0) }) != words else { return }
        gtk_button_set_label(cast(raw(root)), words)
        root.wrapButton()
        Names.fill(root)
    }

    private func showMenu(over parent: Widget) {
        guard let choice, let place = ContextMenu.place(of: root, in: parent) else { return }
        let items = choice.actions.map { action in
            MenuItem(action.words) { [weak self] in self?.onChosen(action) }
        }
        ContextMenu.show([items], over: parent, at: place) { [weak self] in self?.root.focus() }
    }
}
