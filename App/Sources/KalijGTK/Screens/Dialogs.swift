import CAdwaita
import KalijApp
import KalijClient
import KalijText

/// The dialogs of the app.
enum Dialogs {
    /// Prompts for the address of a new contact.
    static func newContact(over parent: Widget, account: String, _ add: @escaping (JID) -> Void) {
        let dialog = kalij_message_dialog(cast(raw(parent)), Words.newContact.withoutEllipsis)
        guard let dialog else { return }
        let object = OpaquePointer(dialog)
        adw_message_dialog_set_body(cast(raw(object)), Words.writesAs(account))
        let entry = widget(OpaquePointer(gtk_entry_new()))
        gtk_entry_set_activates_default(cast(raw(entry)), 1)
        gtk_entry_set_placeholder_text(cast(raw(entry)), "romeo@example.org")
        kalij_name(entry, Words.address)
        let problem = Make.label(classes: "error")
        problem.wrapText()
        problem.show(false)
        let label = Make.silentLabel(classes: "caption-heading")
        label.setText(Words.address)
        adw_message_dialog_set_extra_child(cast(raw(object)), Make.vertical(label, entry, problem, spacing: 6))
        adw_message_dialog_add_response(cast(raw(object)), "cancel", Words.cancel)
        adw_message_dialog_add_response(cast(raw(object)), "open", Words.addIt)
        adw_message_dialog_set_response_appearance(cast(raw(object)), "open", ADW_RESPONSE_SUGGESTED)
        adw_message_dialog_set_default_response(cast(raw(object)), "open")
        adw_message_dialog_set_close_response(cast(raw(object)), "cancel")
        adw_message_dialog_set_response_enabled(cast(raw(object)), "open", 0)
        func jid() -> JID? {
            let text = gtk_editable_get_text(OpaquePointer(entry)).map { String(cString: $0) } ?? ""
            guard let jid = try? JID(text.filter { !$0.isWhitespace }), jid.local != nil else { return nil }
            return jid.bare
        }
        connect(entry, "changed") { _ in
            adw_message_dialog_set_response_enabled(cast(raw(object)), "open", jid() == nil ? 0 : 1)
            problem.show(false)
        }
        connect(entry, "activate") { _ in
            guard jid() == nil else { return }
            problem.setText(Words.badAddress)
            problem.show(true)
            Announcer.say(Words.badAddress)
        }
        connect(object, "response::open") { _ in if let jid = jid() { add(jid) } }
        Names.fill(cast(raw(object)))
        gtk_window_present(cast(raw(object)))
        entry.focus()
    }

    /// Displays who has read a message.
    static func readers(_ message: MessageRow, over parent: Widget) {
        guard let reading = message.reading else { return }
        choose(over: parent, Words.whoHasReadTitle, reading.details, [], dismissal: Words.close)
    }

    /// Displays the table of keyboard shortcuts.
    static func shortcuts(over parent: Widget) {
        let dialog = kalij_message_dialog(cast(raw(parent)), Words.shortcuts)
        guard let dialog else { return }
        let object = OpaquePointer(dialog)
        let grid = widget(OpaquePointer(gtk_grid_new()))
        gtk_grid_set_column_spacing(cast(raw(grid)), 18)
        gtk_grid_set_row_spacing(cast(raw(grid)), 6)
        for (line, key) in Words.keys.enumerated() {
            let keys = Make.silentLabel(classes: "caption-heading")
            keys.setText(key.keys)
            let what = Make.label(key.what)
            for label in [keys, what] { label.wrapText() }
            // A screen reader presents what can have the focus.
            gtk_widget_set_focusable(what, 1)
            kalij_name(what, key.keys + ": " + key.what)
            gtk_widget_set_hexpand(what, 1)
            gtk_grid_attach(cast(raw(grid)), keys, 0, Int32(line), 1, 1)
            gtk_grid_attach(cast(raw(grid)), what, 1, Int32(line), 1, 1)
        }
        // The table is longer than a small window.
        let scrolled = scrolled(grid, over: parent, width: 560)
        adw_message_dialog_set_extra_child(cast(raw(object)), scrolled)
        adw_message_dialog_add_response(cast(raw(object)), "close", Words.close)
        Names.fill(cast(raw(object)))
        gtk_window_present(cast(raw(object)))
        Announcer.say(Words.shortcuts)
        if let first = gtk_grid_get_child_at(cast(raw(grid)), 1, 0) { gtk_widget_grab_focus(first) }
    }

    static func about(over parent: Widget) {
        guard let window = adw_about_window_new() else { return }
        let object = OpaquePointer(window)
        adw_about_window_set_application_name(object, "Kalij")
        adw_about_window_set_application_icon(object, Icon.program.rawValue)
        adw_about_window_set_version(object, kalijVersion)
        adw_about_window_set_license_type(object, GTK_LICENSE_APACHE_2_0)
        gtk_window_set_transient_for(cast(raw(object)), cast(raw(parent)))
        Names.fill(cast(raw(object)))
        gtk_window_present(cast(raw(object)))
    }
}
