import CAdwaita

/// The short-lived notices of a window, one at a time.
final class ToastQueue {
    let root = widget(OpaquePointer(adw_toast_overlay_new()))
    private var waiting: [OpaquePointer] = []

    /// Displays a notice after those that wait.
    func add(_ toast: OpaquePointer) {
        waiting.append(toast)
        connect(toast, "dismissed") { [weak self] _ in
            self?.waiting.removeAll { $0 == toast }
            after(0) { [weak self] in self?.passClicks() }
        }
        adw_toast_overlay_add_toast(opaque(root), toast)
        passClicks()
    }

    /// A notice that only says something does not take the clicks on what it covers, and ends however long the pointer is there.
    private func passClicks() {
        let isTarget = waiting.contains { adw_toast_get_button_label($0) != nil } || waiting.isEmpty
        var child = gtk_widget_get_first_child(root)
        while let next = child {
            child = gtk_widget_get_next_sibling(next)
            if String(cString: kalij_class(raw(next))) == "AdwToastWidget" {
                gtk_widget_set_can_target(next, isTarget ? 1 : 0)
            }
        }
    }

    /// Displays a notice in place of all others. `ADW_TOAST_PRIORITY_HIGH` is not for this: libadwaita 1.2 aborts if such a toast is dismissed
    /// while the one before still fades.
    func replaceAll(by toast: OpaquePointer) {
        for other in waiting { adw_toast_dismiss(other) }
        add(toast)
    }
}
