import CAdwaita

/// Tab and Shift+Tab go through the widgets of the focused row, and then past the list, as in GTK 4.12 with `GTK_LIST_TAB_ITEM`: GTK 4.8 goes
/// through all rows.
extension ListView {
    func listenForTab() {
        guard let keys = gtk_event_controller_key_new() else { return }
        connect(keys, "key-pressed") { [weak self] arguments in
            guard let self, let direction = Self.direction(of: arguments.uint(1), arguments.flags(3))
            else { return arguments.answer(false) }
            arguments.answer(move(direction))
        }
        gtk_widget_add_controller(view, keys)
    }

    private static func direction(of key: UInt32, _ modifiers: Int32) -> GtkDirectionType? {
        switch key {
        case UInt32(GDK_KEY_Tab), UInt32(GDK_KEY_KP_Tab):
            modifiers & Int32(GDK_SHIFT_MASK.rawValue) == 0 ? GTK_DIR_TAB_FORWARD : GTK_DIR_TAB_BACKWARD
        case UInt32(GDK_KEY_ISO_Left_Tab): GTK_DIR_TAB_BACKWARD
        default: nil
        }
    }

    /// - Returns: whether the focus was in a row.
    private func move(_ direction: GtkDirectionType) -> Bool {
        guard let root = gtk_widget_get_root(view), let focused = gtk_root_get_focus(root),
            let item = item(around: focused)
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

    /// The widget of the row that has `focused`, or is it.
    private func item(around focused: Widget) -> Widget? {
        var child = focused
        while let parent = gtk_widget_get_parent(child), parent != view { child = parent }
        return gtk_widget_get_parent(child) == view ? child : nil
    }
}
