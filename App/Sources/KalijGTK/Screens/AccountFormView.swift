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
    /// The parts that have no view yet.
    private var rest: ArraySlice<AccountForm.Part> = []
    private var isWaiting = false
    private let parts = Make.box(GTK_ORIENTATION_VERTICAL, spacing: 14)
    private let instructions = Make.label(classes: "dim-label")
    private let problem = Make.label(classes: "error")

    init() {
        for label in [instructions, problem] { label.wrapText() }
        // They outlive the forms, and this view.
        for widget in [instructions, parts, problem] { g_object_ref_sink(raw(widget)) }
    }

    /// Displays a form with the values that it has.
    func show(_ form: AccountForm) {
        clear()
        self.form = form
        let name = FormFieldView(.text, Words.userName, hint: Words.userNameHint(form.domain), value: form.name)
        name.setSensitive(form.reserved == nil)
        let password = FormFieldView(.secret, Words.newPassword, value: form.password)
        rest = form.parts[...]
        instructions.setText(form.instructions)
        instructions.show(!form.instructions.isEmpty)
        problem.show(false)
        for part in [instructions, name.root, password.root, parts, problem] { root.append(part) }
        for view in [name, password] { view.onActivate = { [weak self] in self?.onSubmit() } }
        (self.name, self.password) = (name, password)
        parts.show(!form.parts.isEmpty)
        grow()
        everyFrame(of: root) { [weak self] in
            self?.grow()
            return self?.rest.isEmpty == false
        }
        Names.fill(root)
    }

    /// The widgets of a long form take a third of a second: some are made in each frame.
    private static let partsOfFrame = 6

    private func grow() {
        guard let form, !rest.isEmpty else { return }
        for part in rest.prefix(Self.partsOfFrame) {
            let view = FormFieldView(part, value: part.field.flatMap { form.values[$0] } ?? "")
            view.onActivate = { [weak self] in self?.onSubmit() }
            parts.append(view.root)
            Names.fill(view.root)
            fields.append((part, view))
        }
        rest = rest.dropFirst(Self.partsOfFrame)
        if isWaiting { setSensitive(false) }
    }

    /// Removes the form, and the password with it.
    func clear() {
        password?.releaseFocus()
        for field in fields { field.view.releaseFocus() }
        for box in [root, parts] {
            while let child = gtk_widget_get_first_child(box) { gtk_box_remove(cast(raw(box)), child) }
        }
        (form, name, password, fields, rest) = (nil, nil, nil, [], [])
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
        isWaiting = !isSensitive
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
