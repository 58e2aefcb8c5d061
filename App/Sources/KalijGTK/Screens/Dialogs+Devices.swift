import CAdwaita
import KalijApp

extension Dialogs {
    /// Displays the digits of a key for comparison, and requests the result.
    static func compare(over parent: Widget, _ heading: String, _ digits: String, _ answer: @escaping (Bool) -> Void) {
        guard let dialog = kalij_message_dialog(cast(raw(parent)), heading) else { return }
        let object = OpaquePointer(dialog)
        adw_message_dialog_set_body(cast(raw(object)), Words.compareHint)
        adw_message_dialog_set_extra_child(cast(raw(object)), keyLabel(digits))
        adw_message_dialog_add_response(cast(raw(object)), "cancel", Words.cancel)
        adw_message_dialog_add_response(cast(raw(object)), "no", Words.different)
        adw_message_dialog_add_response(cast(raw(object)), "yes", Words.equal)
        adw_message_dialog_set_response_appearance(cast(raw(object)), "no", ADW_RESPONSE_DESTRUCTIVE)
        adw_message_dialog_set_default_response(cast(raw(object)), "cancel")
        adw_message_dialog_set_close_response(cast(raw(object)), "cancel")
        connect(object, "response::yes") { _ in answer(true) }
        connect(object, "response::no") { _ in answer(false) }
        Names.fill(cast(raw(object)))
        gtk_window_present(cast(raw(object)))
        // A screen reader speaks the heading and the button alone.
        Announcer.say(Words.compareHint + ". " + Words.keyDigits(digits))
    }

    /// The digits of a key, which a screen reader reads by characters.
    static func keyLabel(_ digits: String) -> Widget {
        let label = Make.label(digits, classes: "key-digits")
        label.wrapText()
        gtk_label_set_justify(opaque(label), GTK_JUSTIFY_CENTER)
        gtk_label_set_xalign(opaque(label), 0.5)
        gtk_label_set_max_width_chars(opaque(label), 36)
        gtk_label_set_selectable(opaque(label), 1)
        kalij_name(label, Words.keyDigits(digits))
        return label
    }

    /// Displays the code of the account with this device, its digits, and a button that copies its text.
    static func showCode(over parent: Widget, _ text: String, _ address: String, _ digits: String) {
        guard let dialog = kalij_message_dialog(cast(raw(parent)), Words.codeOf(address)) else { return }
        let object = OpaquePointer(dialog)
        adw_message_dialog_set_body(cast(raw(object)), Words.codeHint)
        let copy = Make.button(Words.copyCode) {
            gdk_clipboard_set_text(gtk_widget_get_clipboard(parent), text)
            Announcer.say(Words.copied)
        }
        gtk_widget_set_halign(copy, GTK_ALIGN_CENTER)
        let content = Make.vertical(keyLabel(digits), copy, spacing: 12)
        if let picture = codePicture(text, address, digits) { gtk_box_prepend(cast(raw(content)), picture) }
        adw_message_dialog_set_extra_child(cast(raw(object)), scrolled(content, over: parent))
        adw_message_dialog_add_response(cast(raw(object)), "close", Words.close)
        Names.fill(cast(raw(object)))
        gtk_window_present(cast(raw(object)))
        copy.focus()
        Announcer.say(Words.codeOf(address))
    }

    private static func codePicture(_ text: String, _ address: String, _ digits: String) -> Widget? {
        guard let code = QRCode(text), let texture = Pictures.texture(code.picture(scale: 4)) else { return nil }
        defer { g_object_unref(raw(texture)) }
        let picture = widget(OpaquePointer(gtk_picture_new_for_paintable(texture)))
        // A camera needs whole pixels.
        gtk_picture_set_can_shrink(opaque(picture), 0)
        gtk_widget_set_halign(picture, GTK_ALIGN_CENTER)
        kalij_name(picture, Words.codeOf(address))
        kalij_description(picture, Words.keyDigits(digits))
        return picture
    }

    /// A content that may be higher than a small window.
    static func scrolled(_ content: Widget, over parent: Widget, width: Int32 = 400) -> Widget {
        let scrolled = Make.scrolled(content, showsBar: true)
        gtk_scrolled_window_set_propagate_natural_height(opaque(scrolled), 1)
        gtk_scrolled_window_set_max_content_height(opaque(scrolled), max(120, gtk_widget_get_height(parent) - 200))
        // Lines break late, as far as the window has room.
        gtk_widget_set_size_request(scrolled, max(200, min(width, gtk_widget_get_width(parent) - 110)), -1)
        return scrolled
    }

    /// Displays the marks of encryption, with what they mean.
    static func marks(over parent: Widget) {
        guard let dialog = kalij_message_dialog(cast(raw(parent)), Words.marks) else { return }
        let object = OpaquePointer(dialog)
        let content = Make.box(GTK_ORIENTATION_VERTICAL, spacing: 10)
        for row in Words.marksTable {
            let (mark, meaning) = (Make.label(row.mark, classes: "caption-heading"), Make.label(row.meaning))
            for label in [mark, meaning] {
                label.wrapText()
                content.append(label)
            }
        }
        let scrolled = scrolled(content, over: parent)
        adw_message_dialog_set_extra_child(cast(raw(object)), scrolled)
        adw_message_dialog_add_response(cast(raw(object)), "close", Words.close)
        Names.fill(cast(raw(object)))
        // The focus is there at first, so that keys scroll it.
        gtk_widget_set_focusable(scrolled, 1)
        kalij_name(scrolled, Words.marks)
        kalij_description(
            scrolled, Words.marksTable.map { $0.mark + ": " + $0.meaning }.joined(separator: ". "))
        gtk_window_present(cast(raw(object)))
    }

    /// Displays a warning.
    static func warning(over parent: Widget, _ heading: String, _ body: String) {
        guard let dialog = kalij_message_dialog(cast(raw(parent)), heading) else { return }
        let object = OpaquePointer(dialog)
        adw_message_dialog_set_body(cast(raw(object)), body)
        adw_message_dialog_add_response(cast(raw(object)), "close", Words.close)
        Names.fill(cast(raw(object)))
        gtk_window_present(cast(raw(object)))
        Announcer.say(body)
    }

    /// The answers to the question of undecided keys.
    enum KeyAnswer { case trust, distrust, look }

    /// Requests a decision on new keys before a message is sent.
    static func undecided(over parent: Widget, _ devices: String, _ answer: @escaping (KeyAnswer) -> Void) {
        let answers: [(String, KeyAnswer)] = [
            (Words.lookAtDevices, .look), (Words.distrustThem, .distrust), (Words.trustThem, .trust),
        ]
        choose(
            over: parent, Words.undecidedQuestion, Words.undecidedHint(devices),
            answers.map { words, meaning in Answer(words, ADW_RESPONSE_DEFAULT) { answer(meaning) } })
    }

    /// Requests a decision on a message that nobody could decrypt.
    /// - Parameters:
    ///   - plain: stops encrypting, and sends.
    ///   - encrypted: sends all the same: the keys are looked for again.
    static func keyless(
        over parent: Widget, _ heading: String, plain: @escaping () -> Void, encrypted: @escaping () -> Void
    ) {
        choose(
            over: parent, heading, Words.keylessHint,
            [
                Answer(Words.tryEncrypted, ADW_RESPONSE_DEFAULT, encrypted),
                Answer(Words.sendPlain, ADW_RESPONSE_DESTRUCTIVE, plain),
            ])
    }
}
