import CAdwaita
import KalijAddress
import KalijApp
import KalijClient

/// New accounts and invitations.
extension MainWindow {
    func connectAccounts() {
        firstStart.onDone = { [weak self] account in self?.loggedIn(account) }
        firstStart.onNewAccount = { [weak self] isInvited in self?.newAccount(isInvited: isInvited) }
        firstStart.onInvitation = { [weak self] link in self?.newAccount(isInvited: true, link: link) }
        add("settings", ["<Control>comma"]) { $0.openSettings() }
    }

    func act(_ action: StateBanner.Action) {
        switch action {
        case .tryNow: backend.tryNow()
        case .logIn: showFirstStart(address: states.first { $0.value == .refused }?.key)
        }
    }

    /// - Parameter link: of the invitation, if there is one.
    private func newAccount(isInvited: Bool, link: String = "") {
        let screen = side.newAccount
        screen.onBack = { [weak self] in
            guard let self else { return }
            side.shown = nil
            showFirstStart()
        }
        screen.onDone = { [weak self] account, inviter in
            guard let self else { return }
            side.shown = nil
            toast(Words.accountMade(account.shownName))
            loggedIn(account, visiting: inviter)
        }
        screen.prepare(isInvited: isInvited, link: link)
        side.show(.newAccount)
    }

    /// Opens an invitation, as a link of the desktop or pasted: an existing account adds the inviter, a new one is made otherwise.
    func open(_ invitation: InvitationLink, link: String, of account: String?) {
        guard let account, let contact = invitation.contact else { return newAccount(isInvited: true, link: link) }
        let name = Words.inviter(invitation)
        let add = Dialogs.Answer(Words.addContact) { [weak self] in
            guard let self else { return }
            change(contact, of: account, Words.addContact)
            visit(contact.jid.description)
        }
        Dialogs.choose(over: window, Words.inviterQuestion(name), Words.inviterHint, [add])
    }
}
