import CAdwaita
import KalijApp

/// The button that opens the menu of the message below the pointer, else of the one with the focus: one for all rows. Neither Tab nor a
/// screen reader stops there, since the Menu key of the row does the same.
final class MessageActionsButton {
    let root = widget(OpaquePointer(kalij_new_with_role(gtk_button_get_type(), GTK_ACCESSIBLE_ROLE_PRESENTATION)))
    /// Called with the place of the message.
    var onPressed: (Int) -> Void = { _ in }
    private let list: ListView<ThreadRowView>
    private let overlay: Widget
    /// Where the pointer is, in the coordinates of the overlay; nil beside it.
    private var pointer: (x: Double, y: Double)?
    private var shown: Int?
    private var isUpdating = false

    /// - Parameter overlay: a GtkOverlay around the list.
    init(_ list: ListView<ThreadRowView>, over overlay: Widget) {
        (self.list, self.overlay) = (list, overlay)
        gtk_button_set_icon_name(cast(raw(root)), Icon.actions.rawValue)
        gtk_widget_set_focusable(root, 0)
        gtk_widget_set_focus_on_click(root, 0)
        gtk_widget_set_tooltip_text(root, Words.actions)
        for name in ["circular", "flat", "message-actions"] { root.addClass(name) }
        for align in [gtk_widget_set_halign, gtk_widget_set_valign] { align(root, GTK_ALIGN_START) }
        root.show(false)
        gtk_overlay_add_overlay(opaque(overlay), root)
        connect(root, "clicked") { [weak self] _ in if let self, let shown { onPressed(shown) } }
        listen()
    }

    private func listen() {
        if let motion = gtk_event_controller_motion_new() {
            for signal in ["enter", "motion"] {
                connect(motion, signal) { [weak self] in self?.moved($0.double(1), $0.double(2)) }
            }
            connect(motion, "leave") { [weak self] _ in
                self?.pointer = nil
                self?.update()
            }
            gtk_widget_add_controller(overlay, motion)
        }
        if let focus = gtk_event_controller_focus_new() {
            for signal in ["enter", "leave"] { connect(focus, signal) { [weak self] _ in self?.update() } }
            gtk_widget_add_controller(list.view, focus)
        }
    }

    private func moved(_ x: Double, _ y: Double) {
        pointer = (x, y)
        if shown == nil || hovered != shown { update() }
    }

    /// The row below the pointer.
    private var hovered: Int? {
        var (left, top) = (0.0, 0.0)
        guard let pointer,
            gtk_widget_translate_coordinates(overlay, list.view, pointer.x, pointer.y, &left, &top) != 0
        else { return nil }
        return list.place(atHeight: top)
    }

    /// Moves the button after the next layout.
    func update() {
        guard !isUpdating else { return }
        isUpdating = true
        after(0) { [weak self] in
            self?.isUpdating = false
            self?.place()
        }
    }

    private func place() {
        let focused = list.hasFocus ? list.selectedPlace : nil
        shown = [hovered, focused].lazy.compactMap { $0 }.first { place in
            self.list.rows.indices.contains(place) && !(self.list.rows[place].message?.actions.isEmpty ?? true)
        }
        guard let shown, let message = list.rows[shown].message, let bubble = list.bounds(of: shown, in: overlay),
            bubble.y + bubble.height > 0, bubble.y < gtk_widget_get_height(overlay)
        else {
            self.shown = nil
            return root.show(false)
        }
        let isBefore = message.isOwn != (gtk_widget_get_direction(overlay) == GTK_TEXT_DIR_RTL)
        let x = isBefore ? bubble.x - Self.size - Self.gap : bubble.x + bubble.width + Self.gap
        let width = gtk_widget_get_width(overlay)
        let left = max(0, min(x, width - Self.size))
        // The start is on the right side where letters run from there.
        let start = gtk_widget_get_direction(overlay) == GTK_TEXT_DIR_RTL ? width - left - Self.size : left
        gtk_widget_set_margin_start(root, start)
        gtk_widget_set_margin_top(root, max(0, min(bubble.y, gtk_widget_get_height(overlay) - Self.size)))
        root.show(true)
    }

    private static let (size, gap) = (Int32(28), Int32(4))

    /// The rectangle of the button in the coordinates of `parent`.
    func bounds(in parent: Widget) -> GdkRectangle? { ContextMenu.place(of: root, in: parent) }
}
