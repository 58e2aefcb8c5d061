import CAdwaita
import KalijApp

/// The file of a message, in its row: its picture, the progress of its transfer, and what can be done with it.
final class FileView {
    let root = Make.box(GTK_ORIENTATION_VERTICAL, spacing: 4)
    /// Called when a button was pressed.
    var onAction: (FileAction) -> Void = { _ in }
    // Created on demand: a file that was sent has a picture or nothing.
    private var picture: Widget?
    private var note: Widget?
    private var progress: Widget?
    private var buttons: [FileAction: Widget] = [:]
    private let actions = Make.box(GTK_ORIENTATION_HORIZONTAL, spacing: 6)
    private var path: String?

    init() {
        actions.addClass("file-actions")
        root.append(actions)
    }

    func show(_ file: FileRow) {
        show(pictureAt: file.picture)
        let bar = progress.show(file.fraction != nil, made: makeProgress)
        if let bar { gtk_progress_bar_set_fraction(opaque(bar), file.fraction ?? 0) }
        show(file.actions)
    }

    // MARK: The picture

    private func show(pictureAt path: String?) {
        guard path != self.path else { return }
        self.path = path
        // The picture and the note of another file.
        picture?.show(false)
        note?.show(false)
        guard let path else { return }
        Pictures.shared.load(path) { [weak self] outcome in
            // The row may display another file by now.
            if let self, self.path == path { show(outcome) }
        }
    }

    private func show(_ outcome: Pictures.Outcome) {
        switch outcome {
        case .texture(let texture):
            note?.show(false)
            guard let picture = picture.show(true, made: makePicture) else { return }
            gtk_picture_set_paintable(opaque(picture), texture)
            // A list allocates the minimum height to its rows.
            let (width, height) = (Double(gdk_texture_get_width(texture)), Double(gdk_texture_get_height(texture)))
            let scale = min(1, Self.maxWidth / max(1, width), Self.maxHeight / max(1, height))
            gtk_widget_set_size_request(picture, Int32(width * scale), Int32(height * scale))
        case .failed:
            picture?.show(false)
            note.show(true, made: makeNote)
        }
    }

    /// In a window of 360 pixels a picture leaves room for the margins.
    private static let (maxWidth, maxHeight) = (260.0, 240.0)

    private func makePicture() -> Widget {
        let made = widget(OpaquePointer(kalij_new_with_role(kalij_type_picture(), GTK_ACCESSIBLE_ROLE_PRESENTATION)))
        made.addClass("file-picture")
        gtk_widget_set_overflow(made, GTK_OVERFLOW_HIDDEN)
        gtk_box_prepend(cast(raw(root)), made)
        return made
    }

    private func makeNote() -> Widget {
        let made = Make.label(Words.notShown, classes: "caption", "file-note")
        made.wrapText()
        gtk_label_set_max_width_chars(opaque(made), 40)
        gtk_box_prepend(cast(raw(root)), made)
        return made
    }

    // MARK: The transfer

    private func makeProgress() -> Widget {
        let made = widget(
            OpaquePointer(kalij_new_with_role(gtk_progress_bar_get_type(), GTK_ACCESSIBLE_ROLE_PRESENTATION)))
        gtk_box_insert_child_after(cast(raw(root)), made, picture)
        return made
    }

    private func show(_ wanted: [FileAction]) {
        for (action, button) in buttons where !wanted.contains(action) { button.show(false) }
        var last: Widget?
        for action in wanted {
            let button = buttons[action] ?? makeButton(action)
            button.show(true)
            // The default is the first, whichever was created before.
            if gtk_widget_get_prev_sibling(button) != last {
                gtk_box_reorder_child_after(cast(raw(actions)), button, last)
            }
            last = button
        }
        actions.show(!wanted.isEmpty)
    }

    private func makeButton(_ action: FileAction) -> Widget {
        let button = Make.button(action.words, classes: "file-action") { [weak self] in self?.onAction(action) }
        // The name of a button includes that of its label.
        Names.fill(button)
        buttons[action] = button
        actions.append(button)
        return button
    }
}
