import CAdwaita
import KalijApp

extension Dialogs {
    /// Prompts for a new password.
    static func newPassword(over parent: Widget, account: String, _ save: @escaping (String) -> Void) {
        guard let dialog = kalij_message_dialog(cast(raw(parent)), AccountAction.changePassword.plain) else { return }
        let object = OpaquePointer(dialog)
        adw_message_dialog_set_body(cast(raw(object)), account)
        let field = FormFieldView(.secret, Words.newPassword)
        adw_message_dialog_set_extra_child(cast(raw(object)), field.root)
        adw_message_dialog_add_response(cast(raw(object)), "cancel", Words.cancel)
        adw_message_dialog_add_response(cast(raw(object)), "save", Words.save)
        adw_message_dialog_set_response_appearance(cast(raw(object)), "save", ADW_RESPONSE_SUGGESTED)
        adw_message_dialog_set_default_response(cast(raw(object)), "save")
        adw_message_dialog_set_close_response(cast(raw(object)), "cancel")
        adw_message_dialog_set_response_enabled(cast(raw(object)), "save", 0)
        connect(object, "response") { _ in field.releaseFocus() }
        // The dialog keeps the field.
        connect(object, "response::save") { _ in save(field.value) }
        field.onChange {
            adw_message_dialog_set_response_enabled(cast(raw(object)), "save", field.value.isEmpty ? 0 : 1)
        }
        field.activateDefault()
        Names.fill(cast(raw(object)))
        gtk_window_present(cast(raw(object)))
        field.focus()
    }
}
