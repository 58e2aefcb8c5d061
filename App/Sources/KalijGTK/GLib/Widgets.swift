import CAdwaita
import KalijApp

/// Creates widgets with their common properties.
enum Make {
    static func box(_ orientation: GtkOrientation, spacing: Int32 = 0) -> Widget {
        widget(OpaquePointer(gtk_box_new(orientation, spacing)))
    }

    static func vertical(_ children: Widget..., spacing: Int32 = 0) -> Widget {
        let box = box(GTK_ORIENTATION_VERTICAL, spacing: spacing)
        for child in children { gtk_box_append(cast(raw(box)), child) }
        return box
    }

    static func horizontal(_ children: Widget..., spacing: Int32 = 0) -> Widget {
        let box = box(GTK_ORIENTATION_HORIZONTAL, spacing: spacing)
        for child in children { gtk_box_append(cast(raw(box)), child) }
        return box
    }

    /// A label of plain text, which does not interpret markup.
    static func label(_ text: String = "", classes: String...) -> Widget {
        let label = widget(OpaquePointer(gtk_label_new(text)))
        gtk_label_set_xalign(opaque(label), 0)
        for name in classes { gtk_widget_add_css_class(label, name) }
        return label
    }

    /// The explanation of a control: a screen reader speaks it as the control's description. GTK 4.8 would repeat a description of the
    /// control itself at the first visit.
    static func explanation(of control: Widget?, classes: String...) -> Widget {
        let label = silentLabel()
        for name in classes { label.addClass(name) }
        label.wrapText()
        if let control { kalij_described_by(control, label) }
        return label
    }

    /// A label that screen readers skip, because its text is part of another accessible name.
    static func silentLabel(classes: String...) -> Widget {
        let label = widget(OpaquePointer(kalij_new_with_role(kalij_type_label(), GTK_ACCESSIBLE_ROLE_PRESENTATION)))
        gtk_label_set_xalign(opaque(label), 0)
        for name in classes { gtk_widget_add_css_class(label, name) }
        return label
    }

    /// An icon that screen readers skip.
    static func silentImage(_ icon: Icon) -> Widget {
        let image = widget(OpaquePointer(kalij_new_with_role(kalij_type_image(), GTK_ACCESSIBLE_ROLE_PRESENTATION)))
        gtk_image_set_from_icon_name(opaque(image), icon.rawValue)
        return image
    }

    static func avatar(_ size: Int32) -> Widget {
        let avatar = widget(OpaquePointer(kalij_new_with_role(kalij_type_avatar(), GTK_ACCESSIBLE_ROLE_PRESENTATION)))
        adw_avatar_set_size(opaque(avatar), size)
        adw_avatar_set_show_initials(opaque(avatar), 1)
        return avatar
    }

    /// Displays a person or a group in an avatar that has no picture.
    /// - Parameter key: what the colour is of.
    static func show(_ name: String, _ key: String, in avatar: Widget) {
        adw_avatar_set_text(opaque(avatar), name)
        let place = PersonColor.place(of: key)
        for other in 0..<PersonColor.count { avatar.setClass("hue-\(other)", other == place) }
    }

    /// A button with an icon; the accessible name is also its tooltip.
    static func iconButton(_ icon: Icon, _ name: String, _ run: @escaping () -> Void) -> Widget {
        let button = widget(OpaquePointer(gtk_button_new_from_icon_name(icon.rawValue)))
        button.setTooltip(name)
        connect(button, "clicked") { _ in run() }
        return button
    }

    /// The button of the window's menu, which F10 opens.
    /// - Parameter items: texts and actions of the application.
    static func menuButton(_ items: [(words: String, action: String)]) -> Widget {
        // traps: never, GLib aborts when it runs out of memory
        guard let model = g_menu_new() else { fatalError("no memory for a menu") }
        for item in items { g_menu_append(model, item.words, "app." + item.action) }
        let menu = widget(OpaquePointer(gtk_menu_button_new()))
        gtk_menu_button_set_icon_name(opaque(menu), Icon.menu.rawValue)
        gtk_menu_button_set_menu_model(opaque(menu), cast(raw(model)))
        g_object_unref(raw(model))
        gtk_menu_button_set_primary(opaque(menu), 1)
        menu.setTooltip(Words.menu)
        if let popover = gtk_menu_button_get_popover(opaque(menu)) {
            kalij_name(cast(raw(popover)), Words.menu)
            // GTK 4.8 does not tell that the menu is closed: a screen reader would say that it is expanded at each visit.
            connect(raw(popover), "closed") { _ in after(0) { kalij_expanded(menu, 0) } }
        }
        return menu
    }

    static func button(_ text: String, classes: String..., run: @escaping () -> Void) -> Widget {
        let button = widget(OpaquePointer(gtk_button_new_with_label(text)))
        for name in classes { gtk_widget_add_css_class(button, name) }
        connect(button, "clicked") { _ in run() }
        return button
    }

    /// A check button whose text breaks.
    /// - Parameter isRadio: whether it is one of a group: GTK 4.8 calls that a check box, too.
    static func check(_ text: String, isRadio: Bool = false) -> Widget {
        let role = isRadio ? GTK_ACCESSIBLE_ROLE_RADIO : GTK_ACCESSIBLE_ROLE_CHECKBOX
        let check = widget(OpaquePointer(kalij_new_with_role(gtk_check_button_get_type(), role)))
        let label = silentLabel()
        label.setText(text)
        label.wrapText()
        gtk_label_set_natural_wrap_mode(opaque(label), GTK_NATURAL_WRAP_NONE)
        gtk_check_button_set_child(cast(raw(check)), label)
        kalij_name(check, text)
        return check
    }

    /// - Parameter showsBar: whether the bar is visible while nothing scrolls, so that one sees that there is more.
    static func scrolled(_ child: Widget, showsBar: Bool = false) -> Widget {
        let scrolled = widget(OpaquePointer(gtk_scrolled_window_new()))
        gtk_scrolled_window_set_overlay_scrolling(opaque(scrolled), showsBar ? 0 : 1)
        gtk_scrolled_window_set_policy(opaque(scrolled), GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC)
        gtk_scrolled_window_set_child(opaque(scrolled), child)
        return scrolled
    }

    /// The header of a screen that is left by a button.
    /// - Parameter title: an AdwWindowTitle.
    static func header(_ title: Widget, onBack: @escaping () -> Void) -> Widget {
        let header = widget(OpaquePointer(adw_header_bar_new()))
        adw_header_bar_set_title_widget(opaque(header), title)
        adw_header_bar_pack_start(opaque(header), iconButton(.back, Words.back, onBack))
        return header
    }

    /// A column below a heading, which a screen reader says when the focus enters it.
    static func section(_ heading: String) -> Widget {
        let box = widget(OpaquePointer(kalij_new_with_role(kalij_type_box(), GTK_ACCESSIBLE_ROLE_GROUP)))
        gtk_orientable_set_orientation(opaque(box), GTK_ORIENTATION_VERTICAL)
        gtk_box_set_spacing(cast(raw(box)), 8)
        gtk_widget_set_margin_top(box, 12)
        kalij_name(box, heading)
        box.append(label(heading, classes: "heading"))
        return box
    }

    /// A column that is at most `width` pixels wide.
    static func clamp(_ child: Widget, width: Int32) -> Widget {
        let clamp = widget(OpaquePointer(adw_clamp_new()))
        adw_clamp_set_maximum_size(opaque(clamp), width)
        adw_clamp_set_child(opaque(clamp), child)
        return clamp
    }

    /// A page that says why there is nothing. It is not focusable: GTK 4.8 holds the focus before a scrolled window without a
    /// focusable child.
    static func status(_ icon: Icon, _ title: String, _ description: String) -> Widget {
        let page = widget(OpaquePointer(adw_status_page_new()))
        adw_status_page_set_icon_name(opaque(page), icon.rawValue)
        adw_status_page_set_title(opaque(page), title)
        adw_status_page_set_description(opaque(page), description)
        gtk_widget_set_vexpand(page, 1)
        gtk_widget_set_can_focus(page, 0)
        return page
    }
}

extension Optional where Wrapped == Widget {
    /// Shows or hides a part of a row, which is created when it is first shown: each widget takes 50 µs.
    /// - Returns: the part if it is shown.
    @discardableResult
    mutating func show(_ isShown: Bool, made: () -> Widget) -> Widget? {
        if isShown, self == nil { self = made() }
        self?.show(isShown)
        return isShown ? self : nil
    }
}

extension UnsafeMutablePointer where Pointee == GtkWidget {
    func append(_ child: Widget) { gtk_box_append(cast(raw(self)), child) }
    func margins(_ all: Int32) {
        gtk_widget_set_margin_top(self, all)
        gtk_widget_set_margin_bottom(self, all)
        gtk_widget_set_margin_start(self, all)
        gtk_widget_set_margin_end(self, all)
    }
    func show(_ isVisible: Bool) { gtk_widget_set_visible(self, isVisible ? 1 : 0) }
    func focus() { gtk_widget_grab_focus(self) }
    /// Scrolls the content of a scrolled window to its beginning.
    func scrollToTop() {
        if let place = gtk_scrolled_window_get_vadjustment(opaque(self)) { gtk_adjustment_set_value(place, 0) }
    }
    func addClass(_ name: String) { gtk_widget_add_css_class(self, name) }
    func setClass(_ name: String, _ isSet: Bool) {
        if isSet { gtk_widget_add_css_class(self, name) } else { gtk_widget_remove_css_class(self, name) }
    }
    /// Breaks lines between words, and within words that are too long, without inserting hyphens.
    func wrapText() {
        gtk_label_set_wrap(opaque(self), 1)
        gtk_label_set_wrap_mode(opaque(self), PANGO_WRAP_WORD_CHAR)
        let attributes = pango_attr_list_new()
        pango_attr_list_insert(attributes, pango_attr_insert_hyphens_new(0))
        gtk_label_set_attributes(opaque(self), attributes)
        pango_attr_list_unref(attributes)
    }
    /// Breaks the text of a button where there is no room for it, and not before.
    func wrapButton() {
        guard let label = gtk_button_get_child(cast(raw(self))) else { return }
        label.wrapText()
        gtk_label_set_natural_wrap_mode(opaque(label), GTK_NATURAL_WRAP_NONE)
        gtk_label_set_justify(opaque(label), GTK_JUSTIFY_CENTER)
    }
    /// Sets the accessible name, which eyes see as the tooltip. GTK 4.8 makes the tooltip the description, too, and a screen reader would say it
    /// again at the first visit.
    func setTooltip(_ name: String) {
        gtk_widget_set_tooltip_text(self, name)
        kalij_name(self, name)
        kalij_description(self, "")
    }
    func setText(_ text: String) { gtk_label_set_text(opaque(self), text) }

    /// Sets the words of an explanation, for eyes and ears.
    func explain(_ words: String) {
        setText(words)
        kalij_description(self, words)
    }
}
