import CAdwaita
import KalijApp

/// The banner above the lists that reports why nothing is received or sent.
final class StateBannerView {
    let root = widget(OpaquePointer(gtk_revealer_new()))
    var onAction: (StateBanner.Action) -> Void = { _ in }
    private let label = Make.label(classes: "caption-heading")
    private let button: Widget
    private let box: Widget
    private var shown: StateBanner?

    init() {
        button = widget(OpaquePointer(gtk_button_new_with_label("")))
        label.wrapText()
        // The list determines the width, not the text above it.
        gtk_label_set_max_width_chars(opaque(label), 20)
        gtk_widget_set_hexpand(label, 1)
        gtk_widget_set_valign(button, GTK_ALIGN_CENTER)
        box = Make.horizontal(label, button, spacing: 8)
        box.addClass("state-banner")
        gtk_revealer_set_child(opaque(root), box)
        box.show(false)
        connect(button, "clicked") { [weak self] _ in
            if let self, let action = shown?.action { onAction(action) }
        }
    }

    func show(_ banner: StateBanner?) {
        guard banner != shown else { return }
        shown = banner
        gtk_revealer_set_reveal_child(opaque(root), banner == nil ? 0 : 1)
        box.show(banner != nil)
        guard let banner else { return }
        label.setText(banner.text)
        button.show(banner.action != nil)
        gtk_button_set_label(cast(raw(button)), banner.action == .logIn ? Words.logIn : Words.tryNow)
        box.setClass("problem", banner.action == .logIn)
    }
}
