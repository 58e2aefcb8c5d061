import CAdwaita
import KalijApp

/// The picture of a new group: chosen, changed or removed before the group is made.
final class PictureChoice {
    let root: Widget
    /// Called when the user wants to choose a picture.
    var onChoose: () -> Void = {}
    var onRemove: () -> Void = {}
    private let avatar = Make.avatar(64)
    private let choose = widget(OpaquePointer(gtk_button_new_with_label("")))
    private let remove = widget(OpaquePointer(gtk_button_new_with_label(Words.removePicture)))
    private var shown: [UInt8]?

    init() {
        let buttons = Make.vertical(choose, remove, spacing: 4)
        gtk_widget_set_valign(buttons, GTK_ALIGN_CENTER)
        gtk_widget_set_hexpand(buttons, 1)
        root = Make.horizontal(avatar, buttons, spacing: 12)
        connect(choose, "clicked") { [weak self] _ in self?.onChoose() }
        connect(remove, "clicked") { [weak self] _ in
            self?.choose.focus()
            self?.onRemove()
        }
    }

    func show(_ picture: [UInt8]?, name: String) {
        adw_avatar_set_text(opaque(avatar), name)
        let words = picture == nil ? Words.choosePicture : Words.changePicture
        gtk_button_set_label(cast(raw(choose)), words)
        kalij_name(choose, words)
        remove.show(picture != nil)
        guard picture != shown else { return }
        shown = picture
        adw_avatar_set_custom_image(opaque(avatar), nil)
        if let picture { Task { await display(picture) } }
    }

    private func display(_ picture: [UInt8]) async {
        guard let decoded = await Pictures.shared.decode(picture), shown == picture,
            let texture = Pictures.texture(decoded)
        else { return }
        adw_avatar_set_custom_image(opaque(avatar), texture)
        g_object_unref(raw(texture))
    }
}
