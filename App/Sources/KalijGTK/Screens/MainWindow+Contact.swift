import CAdwaita
import KalijAddress
import KalijApp
import KalijClient

/// The screen of the open conversation's contact.
extension MainWindow {
    /// Opens the group or the contact of the open conversation.
    func openDetails() {
        guard let thread else { return }
        if thread.isGroup { openGroup() } else { openContact(thread.key) }
    }

    private func openContact(_ key: ConversationKey) {
        let screen = side.contact
        screen.onBack = { [weak self] in self?.goBack() }
        screen.onAction = { [weak self] action, page in self?.act(action, on: page) }
        screen.onNotify = { [weak self] action, page in self?.notify(action, in: page.key) }
        Task {
            guard let page = try? await reader.contact(key) else { return }
            screen.show(page)
            contactKey = key
            side.show(.contact)
            screen.scrollToTop()
            screen.focus()
            Announcer.say(page.spoken)
            _ = try? await backend.accept(FetchProfile(.received(key.jid)), for: key.account)
        }
    }

    /// Reads the contact again if it is shown.
    func lookAtContact() async {
        guard let contactKey, side.shown == .contact, let page = try? await reader.contact(contactKey) else {
            return
        }
        side.contact.show(page)
    }

    private func act(_ action: ContactAction, on page: ContactPage) {
        let jid = JID.received(page.key.jid)
        if action == .devices {
            side.isAboveContact = true
            return openDevices(page.key)
        }
        if action == .encrypt(true) { return encrypt(page.key, action.plain) }
        guard let intent = action.intent(on: jid) else {
            return Dialogs.ask(over: window, action.plain, Words.contactName, page.givenName) { [weak self] name in
                self?.change(AddContact(jid, name: name), of: page.key.account, action.plain)
            }
        }
        let change = { [weak self] () -> Void in self?.change(intent, of: page.key.account, action.plain) }
        guard action.isDestructive else { return change() }
        let name = page.name == page.key.jid ? page.name : page.name + " (" + page.key.jid.shownName + ")"
        let question = Words.question(action, name)
        Dialogs.confirm(over: window, question.heading, question.hint, question.button, change)
    }
}
