import CAdwaita

/// The short-lived notices of a window, one at a time.
final class ToastQueue {
    let root = widget(OpaquePointer(adw_toast_overlay_new()))
    private var waiting: [OpaquePointer] = []

    /// Displays a notice after those that wait.
    func add(_ toast: OpaquePointer) {
        waiting.append(toast)
        connect(toast, "dismissed") { [weak self] _ in self?.waiting.removeAll { $0 == toast } }
        adw_toast_overlay_add_toast(opaque(root), toast)
    }

    /// Displays a notice in place of all others. `ADW_TOAST_PRIORITY_HIGH` is not for this: libadwaita 1.2 aborts if such a toast is dismissed
    /// while the one before still fades.
    func replaceAll(by toast: OpaquePointer) {
        for other in waiting { adw_toast_dismiss(other) }
        adw_toast_overlay_add_toast(opaque(root), toast)
    }
}
