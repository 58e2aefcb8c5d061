import CAdwaita
import KalijApp

/// A server's registration form: user name, password, and the fields of the server.
final class AccountFormView {
    let root = Make.box(GTK_ORIENTATION_VERTICAL, spacing: 14)
    /// Called when the user confirms the last input by Return.
    var onSubmit: () -> Void = {}
    /// The form that is displayed, with what was entered when it was read last; nil for none.
    private(set) var form: AccountForm?
    private var name: FormFieldView?
    private var password: FormFieldView?
    private var fields: [(part: AccountForm.Part, view: FormFieldView)] = []
    private let instructions = Make.label(classes: "dim-label")
    private let problem = Make.label(classes: "error")

    init() {
        for label in [instructions, problem] {
            label.wrapText()
            // Both outlive the forms, and this view.
            g_object_ref_sink(raw(label))
        }
    }

    /// Displays a form with the values that it has.
    func show(_ form: AccountForm) {
        clear()
        self.form = form
        let name = FormFieldView(.text, Words.userName, hint: Words.userNameHint(form.domain), value: form.name)
        name.setSensitive(form.reserved == nil)
        let password = FormFieldView(.secret, Words.newPassword, value: form.password)
        fields = form.parts.map { ($0, FormFieldView($0, value: $0.field.flatMap { form.values[$0] } ?? "")) }
        instructions.setText(form.instructions)
        instructions.show(!form.instructions.isEmpty)
        problem.show(false)
        let views = [name, password] + fields.map(\.view)
        for part in [instructions] + views.map(\.root) + [problem] { root.append(part) }
        for view in views { view.onActivate = { [weak self] in self?.onSubmit() } }
        (self.name, self.password) = (name, password)
        Names.fill(root)
    }

    /// Removes the form, and the password with it.
    func clear() {
        password?.releaseFocus()
        for field in fields { field.view.releaseFocus() }
        while let child = gtk_widget_get_first_child(root) { gtk_box_remove(cast(raw(root)), child) }
        (form, name, password, fields) = (nil, nil, nil, [])
    }

    /// The form with what the user has entered.
    func read() -> AccountForm? {
        guard var form else { return nil }
        form.name = name?.value ?? ""
        form.password = password?.value ?? ""
        for (part, view) in fields { if let field = part.field { form.values[field] = view.value } }
        self.form = form
        return form
    }

    func setSensitive(_ isSensitive: Bool) {
        name?.setSensitive(isSensitive && form?.reserved == nil)
        for view in [password].compactMap({ $0 }) + fields.map(\.view) { view.setSensitive(isSensitive) }
    }

    /// Displays a problem beside its field, which is focused; without a problem the first field is.
    func show(_ found: AccountForm.Problem?) {
        for view in [name, password].compactMap({ $0 }) + fields.map(\.view) { view.show(problem: nil) }
        problem.show(false)
        let first = form?.reserved == nil ? name : password
        guard let found else {
            after(0) { first?.focus() }
            return
        }
        let view: FormFieldView? =
            switch found.place {
            case .name: name
            case .password: password
            case .field(let field): fields.first { $0.part.field == field }?.view
            case .form: nil
            }
        if let view {
            view.show(problem: found.words)
        } else {
            problem.setText(found.words)
            problem.show(true)
        }
        after(0) { (view ?? first)?.focus() }
        Announcer.say(found.words)
    }
}
