import CAdwaita
import KalijApp

/// An item of a menu.
struct MenuItem {
    let words: String
    /// What a screen reader says; nil for the words.
    var spoken: String?
    /// The keys of the same action, in GTK's notation.
    var keys: String?
    let run: () -> Void

    init(_ words: String, spoken: String? = nil, keys: String? = nil, run: @escaping () -> Void) {
        (self.words, self.spoken, self.keys, self.run) = (words, spoken, keys, run)
    }
}

/// A popover at a place of a widget.
enum ContextMenu {
    /// Displays a menu.
    /// - Parameters:
    ///   - sections: the items; an empty section is omitted.
    ///   - parent: a box.
    ///   - place: the place in the coordinates of `parent`.
    ///   - name: the accessible name of the menu.
    ///   - onClosed: called when the menu was closed, before the chosen item is run.
    static func show(
        _ sections: [[MenuItem]], over parent: Widget, at place: GdkRectangle, name: String = Words.actions,
        onClosed: @escaping () -> Void
    ) {
        guard sections.contains(where: { !$0.isEmpty }), let menu = g_menu_new(),
            let group = g_simple_action_group_new()
        else { return }
        var chosen: (() -> Void)?
        var count = 0
        for section in sections where !section.isEmpty {
            guard let part = g_menu_new() else { continue }
            for item in section {
                append(item, "item\(count)", to: part, group) { chosen = item.run }
                count += 1
            }
            g_menu_append_section(menu, nil, cast(raw(part)))
            g_object_unref(raw(part))
        }
        let popover = widget(OpaquePointer(gtk_popover_menu_new_from_model(cast(raw(menu)))))
        g_object_unref(raw(menu))
        gtk_widget_insert_action_group(popover, "menu", OpaquePointer(group))
        g_object_unref(raw(group))
        gtk_popover_set_has_arrow(cast(raw(popover)), 0)
        var items = sections.flatMap(\.self)[...]
        nameItems(in: popover, &items)
        present(popover, name, over: parent, at: place) {
            onClosed()
            chosen?()
        }
    }

    /// Names the items that are spoken otherwise than they are displayed.
    private static func nameItems(in widget: Widget, _ items: inout ArraySlice<MenuItem>) {
        if String(cString: kalij_class(raw(widget))) == "GtkModelButton" {
            guard let spoken = items.popFirst()?.spoken else { return }
            gtk_accessible_reset_relation(opaque(widget), GTK_ACCESSIBLE_RELATION_LABELLED_BY)
            return kalij_name(widget, spoken)
        }
        var child = gtk_widget_get_first_child(widget)
        while let next = child {
            nameItems(in: next, &items)
            child = gtk_widget_get_next_sibling(next)
        }
    }

    /// The rectangle of a widget in the coordinates of `parent`; nil while it is not laid out.
    static func place(of widget: Widget, in parent: Widget) -> GdkRectangle? {
        var bounds = graphene_rect_t()
        guard gtk_widget_compute_bounds(widget, parent, &bounds) != 0 else { return nil }
        let (origin, size) = (bounds.origin, bounds.size)
        return GdkRectangle(
            x: Int32(origin.x), y: Int32(origin.y), width: Int32(size.width), height: Int32(size.height))
    }

    private static func append(
        _ item: MenuItem, _ name: String, to menu: OpaquePointer, _ group: UnsafeMutablePointer<GSimpleActionGroup>,
        _ choose: @escaping () -> Void
    ) {
        guard let action = kalij_action(name), let entry = g_menu_item_new(item.words, "menu." + name) else { return }
        if let keys = item.keys { g_menu_item_set_attribute_value(entry, "accel", g_variant_new_string(keys)) }
        g_menu_append_item(menu, entry)
        g_object_unref(raw(entry))
        connect(raw(action), "activate") { _ in choose() }
        g_action_map_add_action(OpaquePointer(group), action)
        g_object_unref(raw(action))
    }

    /// Displays a popover once; it is removed after it was closed.
    /// - Parameters:
    ///   - name: its accessible name.
    ///   - closed: called after the popover was removed.
    static func present(
        _ popover: Widget, _ name: String, over parent: Widget, at place: GdkRectangle, closed: @escaping () -> Void
    ) {
        gtk_widget_set_parent(popover, parent)
        kalij_name(popover, name)
        Names.fill(popover)
        var place = place
        gtk_popover_set_pointing_to(cast(raw(popover)), &place)
        connect(popover, "closed") { _ in
            // The chosen action is activated before the next turn of the main loop.
            after(0) {
                gtk_widget_unparent(popover)
                closed()
            }
        }
        gtk_popover_popup(cast(raw(popover)))
    }
}

extension ListView {
    /// Observes requests for the menu of a row: the Menu key, Shift+F10, the secondary button, and a long press.
    /// - Parameter show: called with the row, and the place of the menu in the coordinates of `parent`.
    func listenForMenu(over parent: Widget, _ show: @escaping (Int, GdkRectangle) -> Void) {
        if let keys = gtk_event_controller_key_new() {
            connect(keys, "key-pressed") { [weak self] arguments in
                let (key, isShifted) = (arguments.uint(1), arguments.flags(3) & Int32(GDK_SHIFT_MASK.rawValue) != 0)
                let isMenu = key == UInt32(GDK_KEY_Menu) || key == UInt32(GDK_KEY_F10) && isShifted
                guard let self, isMenu, let place = selectedPlace, let bounds = bounds(of: place, in: parent) else {
                    return arguments.answer(false)
                }
                show(place, bounds)
                arguments.answer(true)
            }
            gtk_widget_add_controller(view, keys)
        }
        let pressed = { [weak self] (x: Double, y: Double) in
            guard let self, let place = place(at: x, y) else { return }
            select(place)
            var (left, top) = (0.0, 0.0)
            gtk_widget_translate_coordinates(view, parent, x, y, &left, &top)
            show(place, GdkRectangle(x: Int32(left), y: Int32(top), width: 1, height: 1))
        }
        if let click = gtk_gesture_click_new() {
            gtk_gesture_single_set_button(click, UInt32(GDK_BUTTON_SECONDARY))
            // A label with links has a menu of its own.
            gtk_event_controller_set_propagation_phase(click, GTK_PHASE_CAPTURE)
            connect(click, "pressed") { arguments in
                gtk_gesture_set_state(click, GTK_EVENT_SEQUENCE_CLAIMED)
                pressed(arguments.double(2), arguments.double(3))
            }
            gtk_widget_add_controller(view, click)
        }
        if let long = gtk_gesture_long_press_new() {
            gtk_gesture_single_set_touch_only(long, 1)
            connect(long, "pressed") { pressed($0.double(1), $0.double(2)) }
            gtk_widget_add_controller(view, long)
        }
    }

    /// The rectangle of a row in the coordinates of `parent`; nil if the row has no widgets.
    func bounds(of place: Int, in parent: Widget) -> GdkRectangle? {
        boundRow(at: place).flatMap { ContextMenu.place(of: $0.anchor, in: parent) }
    }
}
