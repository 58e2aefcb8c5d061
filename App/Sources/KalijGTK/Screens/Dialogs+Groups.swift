import CAdwaita
import KalijApp

extension Dialogs {
    /// Prompts for a text.
    /// - Parameters:
    ///   - label: the name of the field.
    ///   - text: the present text.
    static func ask(
        over parent: Widget, _ heading: String, _ label: String, _ text: String, _ save: @escaping (String) -> Void
    ) {
        guard let dialog = kalij_message_dialog(cast(raw(parent)), heading) else { return }
        let object = OpaquePointer(dialog)
        let entry = widget(OpaquePointer(gtk_entry_new()))
        gtk_editable_set_text(OpaquePointer(entry), text)
        gtk_entry_set_activates_default(cast(raw(entry)), 1)
        kalij_name(entry, label)
        adw_message_dialog_set_extra_child(cast(raw(object)), entry)
        adw_message_dialog_add_response(cast(raw(object)), "cancel", Words.cancel)
        adw_message_dialog_add_response(cast(raw(object)), "save", Words.save)
        adw_message_dialog_set_response_appearance(cast(raw(object)), "save", ADW_RESPONSE_SUGGESTED)
        adw_message_dialog_set_default_response(cast(raw(object)), "save")
        adw_message_dialog_set_close_response(cast(raw(object)), "cancel")
        connect(object, "response::save") { _ in
            save(gtk_editable_get_text(OpaquePointer(entry)).map { String(cString: $0) } ?? "")
        }
        Names.fill(cast(raw(object)))
        gtk_window_present(cast(raw(object)))
        entry.focus()
    }

    /// Prompts for the answer to a request.
    static func request(
        over parent: Widget, _ question: String, _ body: String, _ answer: @escaping (Bool) -> Void
    ) {
        let answers = [
            Answer(Words.decline, ADW_RESPONSE_DESTRUCTIVE) { answer(false) }, Answer(Words.accept) { answer(true) },
        ]
        choose(over: parent, question, body, answers, dismissal: Words.later)
    }
}
