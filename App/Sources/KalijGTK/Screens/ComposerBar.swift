import CAdwaita
import KalijApp

/// The line above the composer: what the text replies to, or that it corrects a message; with a button that ends that.
final class ComposerBar {
    let root: Widget
    var onCancel: () -> Void = {}
    private let label = Make.label(classes: "caption")

    init() {
        gtk_label_set_ellipsize(opaque(label), PANGO_ELLIPSIZE_END)
        gtk_label_set_single_line_mode(opaque(label), 1)
        gtk_widget_set_hexpand(label, 1)
        root = Make.horizontal(label, spacing: 6)
        let cancel = Make.iconButton(.close, Words.cancel) { [weak self] in self?.onCancel() }
        for name in ["flat", "circular"] { cancel.addClass(name) }
        root.append(cancel)
        root.addClass("composer-bar")
        root.show(false)
    }

    /// - Parameter words: nil for a plain message.
    func show(_ words: String?) {
        label.setText(words ?? "")
        root.show(words != nil)
    }
}
