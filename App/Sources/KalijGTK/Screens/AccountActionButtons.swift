import CAdwaita
import KalijApp

/// The buttons of an account's actions at one place of its settings.
final class AccountActionButtons {
    let root = Make.box(GTK_ORIENTATION_VERTICAL, spacing: 8)
    private let run: (AccountAction) -> Void
    private var actions: [AccountAction] = []

    init(_ run: @escaping (AccountAction) -> Void) { self.run = run }

    func show(_ actions: [AccountAction]) {
        guard actions != self.actions else { return }
        let focused = gtk_widget_get_root(root).flatMap { gtk_root_get_focus($0) }
        let hadFocus = focused.map { gtk_widget_is_ancestor($0, root) != 0 } ?? false
        while let child = gtk_widget_get_first_child(root) { gtk_box_remove(cast(raw(root)), child) }
        self.actions = actions
        for action in actions { append(action) }
        root.show(!actions.isEmpty)
        Names.fill(root)
        if hadFocus { gtk_widget_get_first_child(root)?.focus() }
    }

    private func append(_ action: AccountAction) {
        let button = Make.button(action.words) { [weak self] in self?.run(action) }
        button.setClass("error", action.isDestructive)
        root.append(button)
        guard let words = action.hint else { return }
        let hint = Make.explanation(of: button, classes: "dim-label", "caption")
        hint.explain(words)
        root.append(hint)
    }
}
