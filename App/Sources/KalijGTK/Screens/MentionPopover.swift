import CAdwaita
import KalijApp

/// Completes nicknames behind `@` in the composer of a group. The text keeps the focus; Up, Down, Return and Escape operate the list.
final class MentionPopover {
    /// The nicknames in the open group; empty elsewhere.
    var names: [String] = []
    private var completion = MentionCompletion()
    private let text: Widget
    private let parent: Widget
    private let popover = widget(OpaquePointer(gtk_popover_new()))
    private let box = Make.box(GTK_ORIENTATION_VERTICAL, spacing: 2)
    private var isInserting = false

    /// - Parameters:
    ///   - text: the text view.
    ///   - parent: a box around it.
    init(_ text: Widget, in parent: Widget) {
        (self.text, self.parent) = (text, parent)
        gtk_popover_set_autohide(cast(raw(popover)), 0)
        gtk_popover_set_has_arrow(cast(raw(popover)), 0)
        gtk_popover_set_position(cast(raw(popover)), GTK_POS_TOP)
        gtk_popover_set_child(cast(raw(popover)), box)
        gtk_widget_set_can_focus(popover, 0)
        gtk_widget_set_parent(popover, parent)
        kalij_name(popover, Words.members)
        Names.fill(popover)
        listen()
    }

    private func listen() {
        connect(parent, "destroy") { [weak self] _ in if let self { gtk_widget_unparent(popover) } }
        if let buffer = gtk_text_view_get_buffer(cast(raw(text))) {
            connect(raw(buffer), "changed") { [weak self] _ in self?.changed() }
        }
        guard let keys = gtk_event_controller_key_new() else { return }
        gtk_event_controller_set_propagation_phase(keys, GTK_PHASE_CAPTURE)
        connect(keys, "key-pressed") { [weak self] arguments in
            arguments.answer(self?.handled(arguments.uint(1)) ?? false)
        }
        gtk_widget_add_controller(text, keys)
    }

    private func changed() {
        guard !names.isEmpty, !isInserting, gtk_widget_has_focus(text) != 0 else { return close() }
        let before = completion
        completion.changed(written, among: names)
        guard completion != before else { return }
        show()
    }

    /// The text before the cursor.
    private var written: String {
        guard let buffer = gtk_text_view_get_buffer(cast(raw(text))) else { return "" }
        var (start, cursor) = (GtkTextIter(), GtkTextIter())
        gtk_text_buffer_get_iter_at_mark(buffer, &cursor, gtk_text_buffer_get_insert(buffer))
        start = cursor
        gtk_text_iter_backward_chars(&start, Self.mostRead)
        guard let bytes = gtk_text_buffer_get_text(buffer, &start, &cursor, 0) else { return "" }
        defer { g_free(bytes) }
        return String(cString: bytes)
    }

    private static let mostRead: Int32 = 60

    private func show() {
        guard completion.isShown else { return close() }
        while let child = gtk_widget_get_first_child(box) { gtk_box_remove(cast(raw(box)), child) }
        for (place, name) in completion.names.enumerated() {
            let label = Make.silentLabel(classes: "mention")
            label.setText(name.shownName)
            label.setClass("selected", place == completion.selected)
            box.append(label)
        }
        var place = cursor
        gtk_popover_set_pointing_to(cast(raw(popover)), &place)
        gtk_popover_popup(cast(raw(popover)))
        if completion.names.indices.contains(completion.selected) {
            Announcer.say(completion.names[completion.selected].shownName)
        }
    }

    /// The rectangle of the cursor in the coordinates of the parent.
    private var cursor: GdkRectangle {
        var (strong, at) = (GdkRectangle(), GdkRectangle())
        gtk_text_view_get_cursor_locations(cast(raw(text)), nil, &strong, nil)
        at = strong
        gtk_text_view_buffer_to_window_coords(
            cast(raw(text)), GTK_TEXT_WINDOW_WIDGET, strong.x, strong.y, &at.x, &at.y)
        var (x, y) = (0.0, 0.0)
        gtk_widget_translate_coordinates(text, parent, Double(at.x), Double(at.y), &x, &y)
        return GdkRectangle(x: Int32(x), y: Int32(y), width: max(1, at.width), height: at.height)
    }

    private func close() {
        completion.close()
        if gtk_widget_get_visible(popover) != 0 { gtk_popover_popdown(cast(raw(popover))) }
    }

    private func handled(_ key: UInt32) -> Bool {
        guard completion.isShown else { return false }
        switch key {
        case UInt32(GDK_KEY_Down): completion.move(1)
        case UInt32(GDK_KEY_Up): completion.move(-1)
        case UInt32(GDK_KEY_Return), UInt32(GDK_KEY_KP_Enter):
            insert()
            return true
        case UInt32(GDK_KEY_Escape):
            close()
            return true
        default: return false
        }
        show()
        return true
    }

    private func insert() {
        guard let replacement = completion.replacement, let buffer = gtk_text_view_get_buffer(cast(raw(text))) else {
            return
        }
        var (start, cursor) = (GtkTextIter(), GtkTextIter())
        gtk_text_buffer_get_iter_at_mark(buffer, &cursor, gtk_text_buffer_get_insert(buffer))
        start = cursor
        gtk_text_iter_backward_chars(&start, Int32(completion.length))
        isInserting = true
        gtk_text_buffer_delete(buffer, &start, &cursor)
        gtk_text_buffer_insert(buffer, &start, replacement, Int32(replacement.utf8.count))
        isInserting = false
        close()
    }
}
