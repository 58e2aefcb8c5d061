import CAdwaita
import KalijAddress
import KalijApp
import KalijClient

/// The beginning of conversations.
extension MainWindow {
    private var writer: String? { thread?.key.account ?? accounts.first }

    func newConversation() {
        guard let account = writer, !isFirstStart else { return showFirstStart() }
        let screen = side.newConversation
        screen.onBack = { [weak self] in self?.goBack() }
        screen.onChosen = { [weak self] person in self?.write(to: person.key) }
        screen.onNewGroup = { [weak self] in self?.newGroup() }
        screen.onNewContact = { [weak self] in self?.newContact(of: account) }
        screen.onInvitation = { [weak self] in self?.readInvitation() }
        Task {
            screen.show((try? await reader.people()) ?? [], account: account, isNew: true)
            side.show(.newConversation)
            screen.focus()
            Announcer.say(Words.newConversation)
        }
    }

    /// Reads the contacts again if they are shown.
    func lookAtPeople() async {
        guard side.shown == .newConversation, let account = writer, let people = try? await reader.people() else {
            return
        }
        side.newConversation.show(people, account: account, isNew: false)
    }

    private func write(to key: ConversationKey) {
        Task { open((try? await reader.conversation(key)) ?? ConversationRow(key: key, name: key.jid.shownName)) }
    }

    private func newContact(of account: String) {
        Dialogs.newContact(over: window, account: account) { [weak self] jid in
            self?.change(AddContact(jid), of: account, Words.addContact)
            self?.write(to: ConversationKey(account: account, jid: jid.description))
        }
    }

    /// Takes an invitation from a link, a picture of a code, or the clipboard.
    private func readInvitation() {
        let purpose = CodeDialog.Purpose(
            heading: Words.haveInvitation, hint: Words.invitationOrCodeHint, example: "xmpp:…?register;preauth=…",
            action: Words.next)
        CodeDialog(over: window, purpose) { [weak self] texts in
            guard let found = texts.first(where: { InvitationLink($0) != nil }) else { return Words.noInvitationCode }
            self?.visit(found)
            return nil
        }
    }
}
