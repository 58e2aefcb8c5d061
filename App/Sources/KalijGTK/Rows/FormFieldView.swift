import CAdwaita
import KalijApp

/// A part of a form: its label, its explanation, its input and its problem.
final class FormFieldView {
    let root = Make.box(GTK_ORIENTATION_VERTICAL, spacing: 4)
    /// Called when the user confirms the input by Return.
    var onActivate: () -> Void = {}
    private let input: Input?
    private let explanation: Widget
    private let problem = Make.label(classes: "error")

    private enum Input {
        case entry(Widget)
        case secret(PasswordField)
        case check(Widget)
        case text(Widget)
        /// The drop-down's entries are in the order of the values.
        case choice(Widget, [String])
        /// The check buttons of a box are in the order of the values.
        case choices(Widget, [(value: String, check: Widget)])

        var widget: Widget {
            switch self {
            case .entry(let widget), .check(let widget), .text(let widget): widget
            case .secret(let field): field.entry
            case .choice(let widget, _), .choices(let widget, _): widget
            }
        }

        /// An entry of one line; nil for other inputs.
        var line: Widget? {
            switch self {
            case .entry, .secret: widget
            case .check, .text, .choice, .choices: nil
            }
        }

        /// The widget that takes the focus.
        var first: Widget { if case .choices(_, let checks) = self { checks.first?.check ?? widget } else { widget } }
    }

    convenience init(_ part: AccountForm.Part, value: String) {
        self.init(part.kind, part.label, hint: part.hint, value: value)
        for link in part.links {
            let label = link.label.isEmpty ? link.address : link.label
            let button = widget(OpaquePointer(gtk_link_button_new_with_label(link.address, label)))
            gtk_widget_set_halign(button, GTK_ALIGN_START)
            kalij_name(button, label)
            gtk_box_insert_child_after(cast(raw(root)), button, nil)
        }
        if let picture = part.picture { show(picture, label: part.label) }
    }

    init(_ kind: AccountForm.Kind, _ label: String, hint: String = "", value: String = "") {
        input = Self.input(kind, label, value)
        explanation = Make.explanation(of: input?.widget, classes: "dim-label")
        problem.wrapText()
        problem.show(false)
        switch input {
        case .check?: break
        case nil:
            let note = Make.label(label)
            note.wrapText()
            note.show(!label.isEmpty)
            root.append(note)
        default:
            let caption = Make.silentLabel(classes: "caption-heading")
            caption.setText(label)
            caption.wrapText()
            root.append(caption)
        }
        if let input {
            root.append(input.widget)
            if let line = input.line { connect(line, "activate") { [weak self] _ in self?.onActivate() } }
            if case .secret(let field) = input { appendPeek(at: field) }
        }
        root.append(explanation)
        root.append(problem)
        show(hint: hint)
    }

    /// A new password is entered once: a check button, which is easier to find than an icon, shows what it is.
    private func appendPeek(at field: PasswordField) {
        let check = Make.check(Words.showPassword)
        connect(check, "toggled") { _ in field.show(gtk_check_button_get_active(cast(raw(check))) != 0) }
        root.append(check)
    }

    /// - Parameter hint: the explanation of the field; empty for none.
    func show(hint: String) {
        explanation.explain(hint)
        explanation.show(!hint.isEmpty)
    }

    /// Calls `run` when the text is edited.
    func onChange(_ run: @escaping () -> Void) {
        if let line = input?.line { connect(line, "changed") { _ in run() } }
    }

    private static func input(_ kind: AccountForm.Kind, _ label: String, _ value: String) -> Input? {
        switch kind {
        case .note: return nil
        case .text:
            let entry = widget(OpaquePointer(gtk_entry_new()))
            gtk_editable_set_text(OpaquePointer(entry), value)
            kalij_name(entry, label)
            return .entry(entry)
        case .secret:
            let field = PasswordField()
            field.text = value
            kalij_name(field.entry, label)
            return .secret(field)
        case .lines:
            let text = widget(OpaquePointer(gtk_text_view_new()))
            gtk_text_view_set_accepts_tab(cast(raw(text)), 0)
            gtk_text_view_set_wrap_mode(cast(raw(text)), GTK_WRAP_WORD_CHAR)
            gtk_text_buffer_set_text(gtk_text_view_get_buffer(cast(raw(text))), value, -1)
            gtk_widget_set_size_request(text, -1, 60)
            text.addClass("card")
            kalij_name(text, label)
            return .text(text)
        case .check:
            let check = Make.check(label)
            gtk_check_button_set_active(cast(raw(check)), value == "1" || value == "true" ? 1 : 0)
            return .check(check)
        case .choices(let choices): return several(choices, label, value)
        case .choice(let choices):
            guard let list = gtk_string_list_new(nil) else { return nil }
            for choice in choices { gtk_string_list_append(list, choice.label) }
            let drop = widget(OpaquePointer(gtk_drop_down_new(list, nil)))
            let place = choices.firstIndex { $0.value == value } ?? 0
            gtk_drop_down_set_selected(opaque(drop), UInt32(place))
            kalij_name(drop, label)
            // Its button has the focus.
            if let button = gtk_widget_get_first_child(drop) { kalij_name(button, label) }
            return .choice(drop, choices.map(\.value))
        }
    }

    private static func several(_ choices: [AccountForm.Choice], _ label: String, _ value: String) -> Input {
        let box = widget(OpaquePointer(kalij_new_with_role(kalij_type_box(), GTK_ACCESSIBLE_ROLE_GROUP)))
        gtk_orientable_set_orientation(opaque(box), GTK_ORIENTATION_VERTICAL)
        kalij_name(box, label)
        let given = Set(value.split(separator: "\n").map(String.init))
        let checks = choices.map { choice in
            let check = Make.check(choice.label)
            gtk_check_button_set_active(cast(raw(check)), given.contains(choice.value) ? 1 : 0)
            box.append(check)
            return (choice.value, check)
        }
        return .choices(box, checks)
    }

    // MARK: Input

    var value: String {
        switch input {
        case .entry(let entry)?: gtk_editable_get_text(OpaquePointer(entry)).map { String(cString: $0) } ?? ""
        case .secret(let field)?: field.text
        case .check(let check)?: gtk_check_button_get_active(cast(raw(check))) != 0 ? "1" : "0"
        case .text(let text)?: Self.text(of: text)
        case .choice(let drop, let values)?: values.element(Int(gtk_drop_down_get_selected(opaque(drop)))) ?? ""
        case .choices(_, let checks)?:
            checks.filter { gtk_check_button_get_active(cast(raw($0.check))) != 0 }.map(\.value).joined(separator: "\n")
        case nil: ""
        }
    }

    private static func text(of view: Widget) -> String {
        let buffer = gtk_text_view_get_buffer(cast(raw(view)))
        var (start, end) = (GtkTextIter(), GtkTextIter())
        gtk_text_buffer_get_bounds(buffer, &start, &end)
        guard let text = gtk_text_buffer_get_text(buffer, &start, &end, 0) else { return "" }
        defer { g_free(text) }
        return String(cString: text)
    }

    /// Return activates the default button of the field's dialog.
    func activateDefault() {
        if let line = input?.line { kalij_set_boolean_property(raw(line), "activates-default", 1) }
    }

    func set(_ value: String) {
        switch input {
        case .entry(let entry)?: gtk_editable_set_text(OpaquePointer(entry), value)
        case .secret(let field)?: field.text = value
        default: break
        }
    }

    func setSensitive(_ isSensitive: Bool) {
        if let input { gtk_widget_set_sensitive(input.widget, isSensitive ? 1 : 0) }
    }

    /// Focuses the field. The text of an entry is not selected: a letter would replace it.
    func focus() {
        if case .entry(let entry)? = input, !value.isEmpty {
            gtk_entry_grab_focus_without_selecting(cast(raw(entry)))
        } else {
            input?.first.focus()
        }
    }

    /// Takes the focus from the field, before it is removed: GtkPasswordEntry hides a part that exists no longer when it loses the
    /// focus (GTK 4.8).
    func releaseFocus() {
        guard let root = gtk_widget_get_root(root), let focus = gtk_root_get_focus(root),
            gtk_widget_is_ancestor(focus, self.root) != 0
        else { return }
        gtk_root_set_focus(root, nil)
    }

    /// - Parameter words: nil for no problem.
    func show(problem words: String?) {
        problem.setText(words ?? "")
        problem.show(words != nil)
        if let input { input.widget.setClass("error", words != nil) }
    }

    // MARK: A stranger's picture

    private func show(_ bytes: [UInt8], label: String) {
        let picture = widget(OpaquePointer(kalij_new_with_role(kalij_type_picture(), GTK_ACCESSIBLE_ROLE_IMG)))
        gtk_widget_set_halign(picture, GTK_ALIGN_START)
        gtk_widget_set_valign(picture, GTK_ALIGN_START)
        kalij_name(picture, Words.riddle(label))
        gtk_box_insert_child_after(cast(raw(root)), picture, nil)
        Task { [weak self] in
            let decoded = await Pictures.shared.decode(bytes)
            guard let self else { return }
            guard let decoded, let texture = Pictures.texture(decoded) else {
                picture.show(false)
                return show(problem: Words.riddleUnreadable)
            }
            gtk_picture_set_paintable(opaque(picture), texture)
            gtk_picture_set_can_shrink(opaque(picture), 0)
            gtk_widget_set_vexpand(picture, 0)
            gtk_widget_set_size_request(picture, Int32(decoded.width), Int32(decoded.height))
            g_object_unref(raw(texture))
        }
    }
}

extension Array {
    fileprivate func element(_ place: Int) -> Element? { indices.contains(place) ? self[place] : nil }
}
