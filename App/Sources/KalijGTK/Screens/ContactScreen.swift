import CAdwaita
import KalijApp

/// A contact: name, picture, what is known, and a button for each action.
final class ContactScreen {
    let root = Make.box(GTK_ORIENTATION_VERTICAL)
    var onBack: () -> Void = {}
    var onAction: (ContactAction, ContactPage) -> Void = { _, _ in }
    var onNotify: (ConversationAction, ContactPage) -> Void = { _, _ in }
    private let title = widget(OpaquePointer(adw_window_title_new("", "")))
    private let avatar = Make.avatar(96)
    private let facts = Make.label()
    private let buttons = Make.box(GTK_ORIENTATION_VERTICAL, spacing: 8)
    private lazy var notifications = NotificationsButton(over: root)
    private let scrolled: Widget
    private var page: ContactPage?

    init() {
        let content = Make.vertical(avatar, facts, buttons, spacing: 14)
        scrolled = Make.scrolled(Make.clamp(content, width: 400), showsBar: true)
        let header = Make.header(title) { [weak self] in self?.onBack() }
        facts.wrapText()
        gtk_label_set_justify(opaque(facts), GTK_JUSTIFY_CENTER)
        gtk_label_set_xalign(opaque(facts), 0.5)
        content.margins(12)
        gtk_widget_set_vexpand(scrolled, 1)
        notifications.onChosen = { [weak self] action in if let self, let page { onNotify(action, page) } }
        root.append(header)
        root.append(scrolled)
    }

    /// Shows the begin of the page again: where a button was before, another one would be pressed.
    func scrollToTop() { scrolled.scrollToTop() }

    func show(_ page: ContactPage) {
        guard page != self.page else { return }
        adw_window_title_set_title(opaque(title), page.name)
        adw_window_title_set_subtitle(opaque(title), Words.contact)
        Make.show(page.name, page.key.jid, in: avatar)
        if page.picture != self.page?.picture { Make.show(page.picture, in: avatar) }
        facts.setText(page.facts.joined(separator: "\n"))
        notifications.show(page.notifications)
        if page.actions != self.page?.actions || page.key != self.page?.key { showButtons(page) }
        self.page = page
    }

    private func showButtons(_ page: ContactPage) {
        let former = focusedPlace
        while let child = gtk_widget_get_first_child(buttons) { gtk_box_remove(cast(raw(buttons)), child) }
        for action in page.actions {
            if action == .notifications {
                buttons.append(notifications.root)
                continue
            }
            let button = Make.button(action.words) { [weak self] in
                if let self, let page = self.page { onAction(action, page) }
            }
            button.setClass("error", action.isDestructive)
            buttons.append(button)
        }
        Names.fill(buttons)
        // What another action has taken the place of is near.
        if let former { focusAction(at: min(former, page.actions.count - 1)) }
    }

    /// The position of the action with the focus.
    private var focusedPlace: Int? {
        guard let focused = gtk_widget_get_root(root).flatMap({ gtk_root_get_focus($0) }) else { return nil }
        var (place, button) = (0, gtk_widget_get_first_child(buttons))
        while let next = button {
            if focused == next { return place }
            (place, button) = (place + 1, gtk_widget_get_next_sibling(next))
        }
        return nil
    }

    private func focusAction(at place: Int) {
        var button = gtk_widget_get_first_child(buttons)
        for _ in 0..<max(0, place) { button = button.flatMap { gtk_widget_get_next_sibling($0) } }
        button?.focus()
    }

    /// Focuses the first action.
    func focus() { gtk_widget_get_first_child(buttons)?.focus() }
}
