import CAdwaita
import KalijApp

/// The files that the next message sends, above the input field: each with a picture, its name and *Remove*.
final class AttachmentStrip {
    let root = Make.box(GTK_ORIENTATION_HORIZONTAL, spacing: 8)
    private(set) var files: [Attachment] = []
    /// Called when a file was added or removed.
    var onChanged: () -> Void = {}
    private var items: [Widget] = []

    init() {
        root.addClass("attachments")
        kalij_name(root, Words.attachments)
        root.show(false)
    }

    func add(_ new: [Attachment]) {
        for file in new where !files.contains(file) {
            files.append(file)
            let item = item(file)
            items.append(item)
            root.append(item)
            Announcer.say(file.spoken)
        }
        changed()
    }

    /// Removes all files, because they are sent.
    func removeAll() -> [Attachment] {
        defer { changed() }
        for item in items { gtk_box_remove(cast(raw(root)), item) }
        defer { (files, items) = ([], []) }
        return files
    }

    private func remove(_ file: Attachment) {
        guard let place = files.firstIndex(of: file) else { return }
        files.remove(at: place)
        gtk_box_remove(cast(raw(root)), items.remove(at: place))
        file.discard()
        changed()
    }

    private func changed() {
        root.show(!items.isEmpty)
        onChanged()
    }

    private func item(_ file: Attachment) -> Widget {
        let item = Make.box(GTK_ORIENTATION_VERTICAL, spacing: 2)
        item.addClass("attachment")
        let picture = widget(OpaquePointer(kalij_new_with_role(kalij_type_picture(), GTK_ACCESSIBLE_ROLE_PRESENTATION)))
        gtk_widget_set_size_request(picture, 96, 72)
        picture.show(false)
        item.append(picture)
        if file.kind == .picture {
            Pictures.shared.load(file.path) { outcome in
                guard case .texture(let texture) = outcome else { return }
                gtk_picture_set_paintable(opaque(picture), texture)
                picture.show(true)
            }
        }
        let label = Make.label(file.spoken, classes: "caption")
        gtk_label_set_ellipsize(opaque(label), PANGO_ELLIPSIZE_MIDDLE)
        gtk_label_set_max_width_chars(opaque(label), 18)
        item.append(label)
        let remove = Make.button(Words.remove, classes: "flat") { [weak self] in self?.remove(file) }
        Names.fill(remove)
        kalij_name(remove, Words.remove(file.name))
        item.append(remove)
        return item
    }
}
