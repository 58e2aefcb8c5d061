import CAdwaita
import KalijApp
import KalijClient

/// Makes an account: at a server, or by an invitation; then the server's form.
final class NewAccountScreen {
    let root = Make.box(GTK_ORIENTATION_VERTICAL)
    /// Called with the account that was stored, and the inviter's address.
    var onDone: (String, String?) -> Void = { _, _ in }
    var onBack: () -> Void = {}
    private let directory: AccountDirectory
    private let title = widget(OpaquePointer(adw_window_title_new("", "")))
    private let pages = Pages()
    private let progress = Make.label(classes: "dim-label")
    private let spinner = widget(OpaquePointer(gtk_spinner_new()))
    private let cancel: Widget
    private let waiting = Make.box(GTK_ORIENTATION_HORIZONTAL, spacing: 8)

    // Where
    private let link = FormFieldView(.text, Words.invitationLink, hint: Words.invitationHint)
    private let server = FormFieldView(.text, Words.server, hint: Words.serverName)
    private lazy var readLink = Make.button(Words.readLink) { [weak self] in self?.readInvitation() }
    private let inviter = Make.label()
    private let hint = Make.label(Words.newAccountHint)
    private let obstacle = Make.label(classes: "error")
    private var page: Widget?
    private let place = Make.box(GTK_ORIENTATION_VERTICAL, spacing: 14)
    private let next: Widget

    // The form
    private let filling = Make.box(GTK_ORIENTATION_VERTICAL, spacing: 14)
    private let formView = AccountFormView()
    private let make: Widget

    private var state = AccountMaking.entering(nil)
    /// The words about the inviter that were announced last.
    private var announced: String?
    private var registration: AccountRegistration?
    private var attempt: Task<Void, Never>?
    private var accounts: AsyncStream<NewAccount>.Continuation?
    /// An account that was made, and could not be stored.
    private var unstored: AccountRegistration.Outcome?
    /// What was entered in a form that is displayed no longer.
    private var kept: AccountForm?

    init(_ directory: AccountDirectory) {
        self.directory = directory
        cancel = widget(OpaquePointer(gtk_button_new_with_label(Words.cancel)))
        next = widget(OpaquePointer(gtk_button_new_with_label(Words.next)))
        make = widget(OpaquePointer(gtk_button_new_with_label(Words.makeAccount)))
        build()
        connect(next, "clicked") { [weak self] _ in self?.begin() }
        connect(make, "clicked") { [weak self] _ in self?.submit() }
        connect(cancel, "clicked") { [weak self] _ in self?.giveUp() }
        link.onActivate = { [weak self] in self?.begin() }
        server.onActivate = { [weak self] in self?.begin() }
        link.onChange { [weak self] in self?.edited() }
        server.onChange { [weak self] in self?.edited() }
        formView.onSubmit = { [weak self] in self?.submit() }
    }

    private func build() {
        let header = Make.header(title) { [weak self] in self?.back() }
        for label in [inviter, hint, obstacle, progress] { label.wrapText() }
        gtk_label_set_natural_wrap_mode(opaque(progress), GTK_NATURAL_WRAP_NONE)
        gtk_widget_set_halign(readLink, GTK_ALIGN_START)
        for button in [next, make, cancel] {
            button.addClass("pill")
            gtk_widget_set_halign(button, GTK_ALIGN_CENTER)
        }
        for button in [next, make] { button.addClass("suggested-action") }
        for part in [hint, link.root, readLink, inviter, server.root, obstacle, next] { place.append(part) }
        for part in [formView.root, make] { filling.append(part) }
        for part in [spinner, progress, cancel] { waiting.append(part) }
        gtk_widget_set_halign(waiting, GTK_ALIGN_CENTER)
        pages.add(place, "")
        pages.add(filling, "")
        let content = Make.vertical(pages.root, waiting, spacing: 14)
        content.margins(12)
        let scrolled = Make.scrolled(Make.clamp(content, width: 400), showsBar: true)
        gtk_widget_set_vexpand(scrolled, 1)
        root.append(header)
        root.append(scrolled)
    }

    // MARK: Where

    /// Begins with an empty server, or with an invitation.
    /// - Parameters:
    ///   - isInvited: whether the user has an invitation.
    ///   - address: the link of the invitation, if it is known.
    func prepare(isInvited: Bool, link address: String = "") {
        stop()
        kept = nil
        for part in [link.root, readLink] { part.show(isInvited) }
        hint.show(!isInvited)
        link.set(address)
        server.set("")
        showInviter()
        show(.entering(nil))
        after(0) { [weak self] in
            guard let self else { return }
            if !isInvited { server.focus() } else if address.isEmpty { link.focus() } else { next.focus() }
        }
    }

    /// The field to correct.
    private var first: FormFieldView {
        gtk_widget_get_visible(link.root) != 0 && server.value.isEmpty ? link : server
    }

    private var entered: AccountPlace {
        AccountPlace(link: gtk_widget_get_visible(link.root) != 0 ? link.value : "", server: server.value)
    }

    /// Takes an invitation from a code.
    private func readInvitation() {
        guard let window = gtk_widget_get_root(root).map({ widget($0) }) else { return }
        let purpose = CodeDialog.Purpose(
            heading: Words.readInvitation, hint: Words.readCodeHint, example: "xmpp:…?register;preauth=…",
            action: Words.next)
        CodeDialog(over: window, purpose) { [weak self] texts in
            guard let found = texts.first(where: { InvitationLink($0) != nil }) else { return Words.noInvitationCode }
            self?.link.set(found)
            self?.next.focus()
            return nil
        }
    }

    private func edited() {
        show(nil as AccountMaking.Obstacle?)
        showInviter()
    }

    private func showInviter() {
        let entered = entered
        let isInvited = gtk_widget_get_visible(link.root) != 0
        inviter.setText(entered.inviter ?? "")
        inviter.show(entered.inviter != nil)
        // An account by an invitation is made at the server of the invitation.
        server.show(hint: isInvited && entered.invitation?.makesAccount ?? true ? Words.serverHint : Words.serverName)
        guard entered.inviter != announced else { return }
        announced = entered.inviter
        if let announced { Announcer.say(announced) }
    }

    private func begin() {
        guard attempt == nil else { return }
        let registration: AccountRegistration
        do throws(LoginForm.Problem) { registration = try entered.checked() } catch {
            show(.entering(AccountMaking.Obstacle(error.words)))
            (gtk_widget_get_visible(link.root) != 0 && entered.invitation == nil ? link : server).focus()
            return
        }
        self.registration = registration
        // A field with the focus must not become insensitive.
        waiting.show(true)
        cancel.focus()
        show(.connecting)
        attempt = Task { await run(registration) }
    }

    private func run(_ registration: AccountRegistration) async {
        let resource = "kalij." + String(UInt32.random(in: .min ... .max), radix: 36)
        do {
            let made = try await made(by: registration)
            try await directory.addAccount(made, by: registration, resource: resource)
            stop()
            kept = nil
            onDone(made.jid.description, registration.invitation?.inviter?.description)
        } catch is CancellationError {
            // The user has cancelled the attempt.
        } catch {
            guard !Task.isCancelled else { return }
            failed(error, registration)
        }
    }

    /// The account that a server makes, or one that could not be stored.
    private func made(by registration: AccountRegistration) async throws -> AccountRegistration.Outcome {
        if let unstored { return unstored }
        let made = try await registration.perform { [weak self] form, refusal in
            guard let self else { throw CancellationError() }
            return try await fill(form, refusal, registration)
        }
        try Task.checkCancellation()
        unstored = made
        return made
    }

    private func failed(_ error: any Error, _ registration: AccountRegistration) {
        (attempt, accounts) = (nil, nil)
        if unstored == nil {
            stop()
            show(.entering(AccountMaking.Obstacle(error, registration)))
            first.focus()
        } else {
            // The server would refuse the invitation a second time.
            show(.unstored(Words.madeNotStored(Words.why(error))))
        }
    }

    // MARK: The form

    /// Displays the server's form, and waits until the user has submitted it.
    private func fill(
        _ form: RegistrationForm, _ refusal: RegistrationError?, _ registration: AccountRegistration
    ) async throws -> NewAccount {
        var new = try AccountForm(form, registration)
        let former = formView.form ?? kept.flatMap { $0.domain == new.domain ? $0 : nil }
        if let former { new.keep(former) }
        formView.show(new)
        adw_window_title_set_title(opaque(title), Words.accountAt(new.domain))
        show(.filling(refusal.map((former ?? new).problem)))
        let (stream, continuation) = AsyncStream.makeStream(of: NewAccount.self)
        accounts = continuation
        for await account in stream { return account }
        throw CancellationError()
    }

    private func submit() {
        if case .unstored = state, attempt == nil, let registration {
            waiting.show(true)
            cancel.focus()
            show(.registering)
            attempt = Task { await run(registration) }
            return
        }
        guard case .filling = state, let accounts else { return }
        do throws(AccountForm.Problem) {
            guard let account = try formView.read()?.account() else { return }
            // A field with the focus must not become insensitive.
            waiting.show(true)
            cancel.focus()
            show(.registering)
            accounts.yield(account)
        } catch {
            show(.filling(error))
        }
    }

    // MARK: States

    private func show(_ state: AccountMaking) {
        self.state = state
        var (isWaiting, words) = (false, "")
        switch state {
        case .entering(let obstacle):
            let isInvited = gtk_widget_get_visible(link.root) != 0
            adw_window_title_set_title(opaque(title), isInvited ? Words.haveInvitation : Words.newAccount)
            pages.show(place)
            show(obstacle)
        case .connecting: (isWaiting, words) = (true, Words.connectingServer)
        case .filling(let problem):
            pages.show(filling)
            formView.show(problem)
        case .unstored(let words): formView.show(AccountForm.Problem(words, at: .form))
        case .registering: (isWaiting, words) = (true, Words.makingAccount)
        }
        if isWaiting { show(nil as AccountMaking.Obstacle?) }
        for field in [link, server] { field.setSensitive(!isWaiting) }
        gtk_widget_set_sensitive(readLink, isWaiting ? 0 : 1)
        for button in [next, make] { button.show(!isWaiting) }
        // What was entered is that of an account which exists.
        if case .unstored = state { make.focus() } else { formView.setSensitive(!isWaiting) }
        progress.setText(words)
        waiting.show(isWaiting)
        if isWaiting { gtk_spinner_start(opaque(spinner)) } else { gtk_spinner_stop(opaque(spinner)) }
        if !words.isEmpty { Announcer.say(words) }
    }

    private func show(_ problem: AccountMaking.Obstacle?) {
        obstacle.setText(problem?.words ?? "")
        obstacle.show(problem != nil)
        if let page { gtk_box_remove(cast(raw(place)), page) }
        page = nil
        if let address = problem?.page {
            let button = widget(OpaquePointer(gtk_link_button_new_with_label(address, Words.openPage)))
            kalij_name(button, Words.openPage)
            gtk_box_insert_child_after(cast(raw(place)), button, obstacle)
            page = button
        }
        if let problem { Announcer.say(problem.words) }
    }

    // MARK: Back

    /// Ends the attempt, and returns to the server's name, or leaves the screen.
    func back() { if attempt == nil { onBack() } else { giveUp() } }

    private func giveUp() {
        stop()
        show(.entering(nil))
        first.focus()
    }

    private func stop() {
        attempt?.cancel()
        (attempt, accounts, unstored) = (nil, nil, nil)
        kept = formView.read() ?? kept
        formView.clear()
    }
}
