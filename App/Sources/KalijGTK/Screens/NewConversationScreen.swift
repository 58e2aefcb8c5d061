import CAdwaita
import KalijApp

/// The beginning of a conversation: with a contact, an address, a new group, or by an invitation.
final class NewConversationScreen {
    let root = Make.box(GTK_ORIENTATION_VERTICAL)
    var onBack: () -> Void = {}
    var onChosen: (PersonRow) -> Void = { _ in }
    var onNewGroup: () -> Void = {}
    var onNewContact: () -> Void = {}
    var onInvitation: () -> Void = {}
    private var model = ContactList(account: "")
    private let list = ListView<PersonRowView>(name: Words.contacts, activatesOnClick: true)
    private lazy var contacts = GrowingList(list)
    private let title = widget(OpaquePointer(adw_window_title_new(Words.newConversation, "")))
    private let entry = widget(OpaquePointer(gtk_search_entry_new()))
    private let count = Make.label(classes: "dim-label")

    init() {
        let header = Make.header(title) { [weak self] in self?.onBack() }
        let group = Make.button(Words.newGroup) { [weak self] in self?.onNewGroup() }
        let contact = Make.button(Words.newContact) { [weak self] in self?.onNewContact() }
        let invitation = Make.button(Words.haveInvitation) { [weak self] in self?.onInvitation() }
        for button in [group, contact, invitation] { button.wrapButton() }
        kalij_set_string_property(raw(entry), "placeholder-text", Words.nameOrAddress)
        count.addClass("caption")
        let top = Make.vertical(group, contact, invitation, entry, count, spacing: 8)
        top.margins(12)
        list.view.addClass("conversations")
        let scrolled = Make.scrolled(Make.clamp(list.view, width: 460), showsBar: true)
        gtk_widget_set_vexpand(scrolled, 1)
        for part in [header, Make.clamp(top, width: 460), scrolled] { root.append(part) }
        Names.fill(root)
        // A search entry would be named "Search".
        kalij_name(entry, Words.nameOrAddress)
        listen()
    }

    private func listen() {
        list.onActivate = { [weak self] place in
            if let self, list.rows.indices.contains(place) { onChosen(list.rows[place]) }
        }
        connect(entry, "search-changed") { [weak self] _ in self?.searched() }
        connect(entry, "activate") { [weak self] _ in self?.activate() }
        connect(entry, "stop-search") { [weak self] _ in self?.onBack() }
        guard let keys = gtk_event_controller_key_new() else { return }
        gtk_event_controller_set_propagation_phase(keys, GTK_PHASE_CAPTURE)
        connect(keys, "key-pressed") { [weak self] arguments in
            guard let self, arguments.uint(1) == UInt32(GDK_KEY_Down), !list.rows.isEmpty else {
                return arguments.answer(false)
            }
            list.focusRow(or: 0)
            arguments.answer(true)
        }
        gtk_widget_add_controller(entry, keys)
    }

    /// - Parameter isNew: whether the screen is opened; otherwise what was entered stays.
    func show(_ contacts: [PersonRow], account: String, isNew: Bool) {
        let words = isNew ? "" : model.words
        model = ContactList(account: account)
        (model.contacts, model.words) = (contacts, words)
        adw_window_title_set_subtitle(opaque(title), Words.writesAs(account))
        if isNew { gtk_editable_set_text(OpaquePointer(entry), "") }
        show(isOther: isNew)
    }

    private func show(isOther: Bool) {
        contacts.show(model.shown, isOther: isOther)
        count.setText(model.count)
        kalij_description(list.view, model.count)
    }

    func focus() { entry.focus() }

    private var written: String { gtk_editable_get_text(OpaquePointer(entry)).map { String(cString: $0) } ?? "" }

    private func searched() {
        guard written != model.words else { return }
        model.words = written
        list.select(nil)
        show(isOther: true)
        if !model.words.isEmpty { Announcer.say(model.count) }
    }

    /// Return chooses the first row, of what was entered last.
    private func activate() {
        searched()
        if !model.words.isEmpty, let first = model.shown.first { onChosen(first) }
    }
}
