import CAdwaita
import KalijApp
import KalijClient

/// Prompts for the address and the password of an account.
final class FirstStartScreen {
    let root: Widget
    /// Called when an account was stored.
    var onDone: (String) -> Void = { _ in }
    /// Called when the user wants a new account: whether by an invitation.
    var onNewAccount: (Bool) -> Void = { _ in }
    /// Called when the user has entered the link of an invitation as the address.
    var onInvitation: (String) -> Void = { _ in }
    /// Called when the user cancels adding an account; nil at the first start.
    var onCancel: (() -> Void)?
    /// What has happened to the last account; empty for nothing.
    var notice = "" {
        didSet { adw_status_page_set_description(opaque(page), notice.isEmpty ? Words.welcomeHint : notice) }
    }
    private let directory: AccountDirectory
    // The text of an AdwEntryRow has no role: Orca is not notified of its focus.
    private let address = widget(OpaquePointer(gtk_entry_new()))
    private let password = PasswordField()
    private let server = widget(OpaquePointer(gtk_entry_new()))
    private let problem = Make.label(classes: "error")
    private let page = Make.status(FirstStartScreen.picture, Words.welcome, Words.welcomeHint)
    private let progress = Make.label(classes: "dim-label")
    private let spinner = widget(OpaquePointer(gtk_spinner_new()))
    private let waiting = Make.box(GTK_ORIENTATION_HORIZONTAL, spacing: 8)
    private let logIn: Widget
    private let cancel: Widget
    private let invited: Widget
    private let newAccount: Widget
    private var attempt: Task<Void, Never>?
    private static let picture = Icon.program

    init(_ directory: AccountDirectory) {
        self.directory = directory
        logIn = widget(OpaquePointer(gtk_button_new_with_label(Words.logIn)))
        cancel = widget(OpaquePointer(gtk_button_new_with_label(Words.cancel)))
        invited = widget(OpaquePointer(gtk_button_new_with_label(Words.haveInvitation)))
        newAccount = widget(OpaquePointer(gtk_button_new_with_label(Words.newAccount)))
        root = Make.box(GTK_ORIENTATION_VERTICAL)
        build()
        connect(invited, "clicked") { [weak self] _ in self?.onNewAccount(true) }
        connect(newAccount, "clicked") { [weak self] _ in self?.onNewAccount(false) }
        connect(logIn, "clicked") { [weak self] _ in self?.begin() }
        connect(cancel, "clicked") { [weak self] _ in self?.giveUp() }
        for entry in [address, password.entry, server] {
            connect(entry, "activate") { [weak self] _ in self?.begin() }
            connect(entry, "changed") { [weak self] _ in self?.show(problem: nil) }
        }
        show(.entering(problem: nil))
    }

    private func build() {
        let header = widget(OpaquePointer(adw_header_bar_new()))
        adw_header_bar_set_title_widget(
            opaque(header), widget(OpaquePointer(adw_window_title_new("Kalij", ""))))
        let menu = Make.menuButton([
            (Words.shortcuts, "shortcuts"), (Words.about, "about"), (Words.quit, "quit"),
        ])
        adw_header_bar_pack_end(opaque(header), menu)
        let group = Make.box(GTK_ORIENTATION_VERTICAL, spacing: 12)
        for (entry, name) in [(address, Words.address), (password.entry, Words.password), (server, Words.server)] {
            let label = Make.silentLabel(classes: "caption-heading")
            label.setText(name)
            group.append(Make.vertical(label, entry, spacing: 4))
            kalij_name(entry, name)
        }
        gtk_password_entry_set_show_peek_icon(opaque(password.entry), 1)
        Names.nameButtons(in: password.entry, Words.showPassword)
        gtk_entry_set_placeholder_text(cast(raw(address)), Words.addressForm)
        gtk_entry_set_placeholder_text(cast(raw(server)), Words.serverForm)
        let hint = Make.explanation(of: server)
        hint.explain(Words.serverHint)
        hint.show(false)
        group.append(hint)
        for label in [problem, progress] {
            label.wrapText()
            gtk_label_set_justify(opaque(label), GTK_JUSTIFY_CENTER)
            gtk_label_set_xalign(opaque(label), 0.5)
        }
        for button in [logIn, cancel] {
            button.addClass("pill")
            gtk_widget_set_halign(button, GTK_ALIGN_CENTER)
        }
        logIn.addClass("suggested-action")
        for part in [spinner, progress] { waiting.append(part) }
        gtk_widget_set_halign(waiting, GTK_ALIGN_CENTER)
        for button in [invited, newAccount] { button.wrapButton() }
        let others = Make.horizontal(invited, newAccount, spacing: 8)
        gtk_widget_set_halign(others, GTK_ALIGN_CENTER)
        let form = Make.vertical(group, problem, waiting, logIn, others, cancel, spacing: 14)
        page.addClass("compact")
        gtk_widget_set_can_focus(page, 1)
        let clamp = Make.clamp(form, width: 400)
        adw_status_page_set_child(opaque(page), clamp)
        root.append(header)
        root.append(page)
    }

    /// Whether no field has a text.
    var isEmpty: Bool { password.text.isEmpty && [address, server].allSatisfy { text($0).isEmpty } }

    private func text(_ entry: Widget) -> String {
        gtk_editable_get_text(OpaquePointer(entry)).map { String(cString: $0) } ?? ""
    }

    /// - Parameter address: the account whose password the server refuses.
    func prepare(address known: String? = nil) {
        gtk_editable_set_text(OpaquePointer(address), known ?? "")
        password.text = ""
        adw_status_page_set_title(opaque(page), onCancel == nil ? Words.welcome : Words.addAccount)
        show(.entering(problem: nil))
        after(0) { [weak self] in
            guard let self else { return }
            (known == nil ? address : password.entry).focus()
        }
    }

    private func show(_ state: FirstStart) {
        let isTrying = state == .loggingIn
        for entry in [address, password.entry, server] { gtk_widget_set_sensitive(entry, isTrying ? 0 : 1) }
        for button in [logIn, invited, newAccount] { button.show(!isTrying) }
        cancel.show(isTrying || onCancel != nil)
        spinner.show(isTrying)
        if isTrying { gtk_spinner_start(opaque(spinner)) } else { gtk_spinner_stop(opaque(spinner)) }
        progress.setText(isTrying ? Words.loggingIn : "")
        waiting.show(isTrying)
        var words: String?
        if case .entering(let problem) = state { words = problem }
        show(problem: words)
        if let words { Announcer.say(words) }
    }

    /// In a small window the text takes the space of the picture.
    private func show(problem words: String?) {
        problem.setText(words ?? "")
        problem.show(words != nil)
        adw_status_page_set_icon_name(opaque(page), words == nil ? Self.picture.rawValue : nil)
    }

    private func begin() {
        guard attempt == nil else { return }
        if InvitationLink(text(address)) != nil { return onInvitation(text(address)) }
        let form = LoginForm(address: text(address), password: password.text, server: text(server))
        let checked: LoginForm.Checked
        do throws(LoginForm.Problem) { checked = try form.checked() } catch {
            show(.entering(problem: error.words))
            address.focus()
            return
        }
        // A field with the focus must not become insensitive.
        cancel.show(true)
        cancel.focus()
        show(.loggingIn)
        attempt = Task { await run(checked) }
    }

    private func run(_ form: LoginForm.Checked) async {
        do {
            let resource = form.jid.resource ?? "kalij." + String(UInt32.random(in: .min ... .max), radix: 36)
            try await directory.addAccount(
                form.jid, password: form.password, resource: resource, server: form.server)
            attempt = nil
            password.text = ""
            show(.entering(problem: nil))
            onDone(form.jid.bare.description)
        } catch is CancellationError {
            // The user has cancelled the attempt.
        } catch {
            attempt = nil
            show(.entering(problem: Words.problem(error, of: form.jid.domain, at: form.server.override?.description)))
            field(of: error, isServerNamed: form.server.override != nil).focus()
        }
    }

    /// The field to correct.
    private func field(of error: any Error, isServerNamed: Bool) -> Widget {
        guard case LoginError.unreachable = error else { return password.entry }
        return isServerNamed ? server : address
    }

    private func giveUp() {
        guard let attempt else {
            onCancel?()
            return
        }
        attempt.cancel()
        self.attempt = nil
        show(.entering(problem: nil))
        address.focus()
    }
}
