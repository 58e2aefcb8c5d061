import CAdwaita

/// Tab and Shift+Tab.
enum TabKey {
    /// Listens for the key in `area`.
    /// - Parameter pressed: called with the direction; returns whether the key is handled.
    static func listen(
        in area: Widget, _ phase: GtkPropagationPhase, _ pressed: @escaping (GtkDirectionType) -> Bool
    ) {
        guard let keys = gtk_event_controller_key_new() else { return }
        gtk_event_controller_set_propagation_phase(keys, phase)
        connect(keys, "key-pressed") { arguments in
            let direction = direction(of: arguments.uint(1), arguments.flags(3))
            arguments.answer(direction.map(pressed) ?? false)
        }
        gtk_widget_add_controller(area, keys)
    }

    private static func direction(of key: UInt32, _ modifiers: Int32) -> GtkDirectionType? {
        switch key {
        case UInt32(GDK_KEY_Tab), UInt32(GDK_KEY_KP_Tab):
            modifiers & Int32(GDK_SHIFT_MASK.rawValue) == 0 ? GTK_DIR_TAB_FORWARD : GTK_DIR_TAB_BACKWARD
        case UInt32(GDK_KEY_ISO_Left_Tab): GTK_DIR_TAB_BACKWARD
        default: nil
        }
    }
}

/// Tab and Shift+Tab go through the widgets of the focused row, and then past the list, as in GTK 4.12 with `GTK_LIST_TAB_ITEM`: GTK 4.8 goes
/// through all rows.
extension ListView {
    /// Moves the focus out of the focused row.
    /// - Returns: whether the focus was in a row.
    func leaveRow(_ direction: GtkDirectionType) -> Bool {
        guard let root = gtk_widget_get_root(view), let focused = gtk_root_get_focus(root),
            let item = gtk_widget_get_focus_child(view)
        else { return false }
        if direction == GTK_DIR_TAB_FORWARD || focused != item {
            if gtk_widget_child_focus(item, direction) != 0 { return true }
            if direction == GTK_DIR_TAB_BACKWARD { return gtk_widget_grab_focus(item) != 0 }
        }
        // A widget that cannot have the focus is passed over.
        gtk_widget_set_can_focus(view, 0)
        gtk_widget_child_focus(widget(root), direction)
        gtk_widget_set_can_focus(view, 1)
        return true
    }

    /// Tab will enter the list at the selected row, or at the last visible one: GTK remembers the row that was the focus child last.
    func aimFocus() {
        guard !hasFocus else { return }
        let lastVisible = place(atHeight: Double(gtk_widget_get_height(view)) - 8) ?? rows.indices.last
        guard let place = selectedPlace ?? lastVisible, let row = boundRow(at: place)?.root,
            let item = gtk_widget_get_parent(row)
        else { return }
        gtk_widget_set_focus_child(view, item)
        gtk_widget_set_focus_child(view, nil)
    }
}
