import CAdwaita
import KalijApp

/// Questions with buttons. The answer that changes nothing has the focus.
extension Dialogs {
    /// An answer: the text of its button, and its action.
    struct Answer {
        let words: String
        let appearance: AdwResponseAppearance
        let run: () -> Void

        init(
            _ words: String, _ appearance: AdwResponseAppearance = ADW_RESPONSE_SUGGESTED,
            _ run: @escaping () -> Void
        ) {
            (self.words, self.appearance, self.run) = (words, appearance, run)
        }
    }

    /// Requests the choice of an answer.
    /// - Parameter dismissal: the button without an action, which Escape activates, too.
    static func choose(
        over parent: Widget, _ heading: String, _ body: String, _ answers: [Answer],
        dismissal: String = Words.cancel
    ) {
        guard let dialog = kalij_message_dialog(cast(raw(parent)), heading) else { return }
        let object = OpaquePointer(dialog)
        adw_message_dialog_set_body(cast(raw(object)), body)
        adw_message_dialog_add_response(cast(raw(object)), "dismissal", dismissal)
        for (place, answer) in answers.enumerated() {
            let id = "answer\(place)"
            adw_message_dialog_add_response(cast(raw(object)), id, answer.words)
            adw_message_dialog_set_response_appearance(cast(raw(object)), id, answer.appearance)
            connect(object, "response::" + id) { _ in answer.run() }
        }
        adw_message_dialog_set_default_response(cast(raw(object)), "dismissal")
        adw_message_dialog_set_close_response(cast(raw(object)), "dismissal")
        Names.fill(cast(raw(object)))
        gtk_window_present(cast(raw(object)))
        focus(dismissal, in: dialog)
        // A screen reader speaks the heading and the button alone.
        Announcer.say(body.split(separator: "\n").joined(separator: ", "))
    }

    /// Requests a confirmation of an action that removes something.
    static func confirm(
        over parent: Widget, _ heading: String, _ body: String, _ action: String, _ run: @escaping () -> Void
    ) {
        choose(over: parent, heading, body, [Answer(action, ADW_RESPONSE_DESTRUCTIVE, run)])
    }

    /// Focuses a response once the dialog is laid out: it has its buttons in a row and in a column, whose first is the last response, so
    /// that a second Return would trust, or remove.
    private static func focus(_ words: String, in dialog: Widget) {
        var frames = framesToLayout
        everyFrame(of: dialog) {
            frames -= 1
            if frames == 0 { button(words, in: dialog)?.focus() }
            return frames > 0
        }
    }

    private static let framesToLayout = 4

    /// The visible button with the label `words`.
    private static func button(_ words: String, in widget: Widget) -> Widget? {
        guard gtk_widget_get_mapped(widget) != 0 else { return nil }
        if String(cString: kalij_class(raw(widget))) == "GtkButton" {
            let label = gtk_button_get_label(cast(raw(widget))).map { String(cString: $0) }
            return label == words ? widget : nil
        }
        var child = gtk_widget_get_first_child(widget)
        while let next = child {
            if let found = button(words, in: next) { return found }
            child = gtk_widget_get_next_sibling(next)
        }
        return nil
    }
}
