import CAdwaita
import KalijAddress
import KalijApp

/// The input for a new group, or for an invitation to an existing one: a name and people, and no server's name.
final class NewGroupScreen {
    let root = Make.box(GTK_ORIENTATION_VERTICAL)
    /// Called with the complete input.
    var onSubmit: (GroupForm, [JID]) -> Void = { _, _ in }
    /// Called when the user wants to choose a picture; calls back with the content of a file.
    var onPicture: (_ chosen: @escaping ([UInt8]) -> Void) -> Void = { _ in }
    var onBack: () -> Void = {}
    private var form = GroupForm()
    private var isSubmitting = false
    private let title = widget(OpaquePointer(adw_window_title_new("", "")))
    private let nameBox: Widget
    private let picture = PictureChoice()
    private let name = widget(OpaquePointer(gtk_entry_new()))
    private let person = widget(OpaquePointer(gtk_entry_new()))
    private let suggestions = Make.box(GTK_ORIENTATION_VERTICAL, spacing: 4)
    private let guests = Make.box(GTK_ORIENTATION_VERTICAL, spacing: 4)
    private let problem = Make.label(classes: "error")
    private let submitButton = widget(OpaquePointer(gtk_button_new_with_label("")))

    init() {
        nameBox = Self.labelled(name, Words.groupName)
        build()
        connect(name, "changed") { [weak self] _ in self?.edited() }
        connect(name, "activate") { [weak self] _ in self?.person.focus() }
        connect(person, "changed") { [weak self] _ in self?.edited() }
        connect(person, "activate") { [weak self] _ in self?.addWritten() }
        connect(submitButton, "clicked") { [weak self] _ in self?.submit() }
        picture.onChoose = { [weak self] in
            self?.onPicture { bytes in self?.change { form throws(GroupForm.Problem) in try form.choose(bytes) } }
        }
        picture.onRemove = { [weak self] in self?.change { form in form.removePicture() } }
    }

    private static func labelled(_ entry: Widget, _ name: String) -> Widget {
        let label = Make.silentLabel(classes: "caption-heading")
        label.setText(name)
        kalij_name(entry, name)
        return Make.vertical(label, entry, spacing: 4)
    }

    private func build() {
        let header = Make.header(title) { [weak self] in self?.onBack() }
        submitButton.addClass("suggested-action")
        adw_header_bar_pack_end(opaque(header), submitButton)
        // A screen reader says the placeholder, too.
        gtk_entry_set_placeholder_text(cast(raw(person)), Words.addPersonHint)
        problem.wrapText()
        let form = Make.vertical(
            nameBox, picture.root, Self.labelled(person, Words.addPerson), problem, suggestions, guests, spacing: 14)
        form.margins(12)
        let clamp = Make.clamp(form, width: 460)
        let scrolled = Make.scrolled(clamp)
        gtk_widget_set_vexpand(scrolled, 1)
        root.append(header)
        root.append(scrolled)
    }

    /// - Parameters:
    ///   - group: the name of the group to invite to; nil for a new group.
    ///   - account: the account that writes.
    ///   - contacts: the contacts to choose from.
    func begin(_ group: String?, account: String, _ contacts: [GroupGuest]) {
        isSubmitting = false
        form = GroupForm(isNew: group == nil)
        form.contacts = contacts
        adw_window_title_set_title(opaque(title), group ?? Words.newGroup)
        adw_window_title_set_subtitle(opaque(title), Words.writesAs(account))
        let label = group == nil ? Words.create : Words.invite
        gtk_button_set_label(cast(raw(submitButton)), label)
        kalij_name(submitButton, label)
        for part in [nameBox, picture.root] { part.show(group == nil) }
        for entry in [name, person] { gtk_editable_set_text(OpaquePointer(entry), "") }
        show()
        after(0) { [weak self] in
            guard let self else { return }
            (form.isNew ? name : person).focus()
        }
    }

    private func text(_ entry: Widget) -> String {
        gtk_editable_get_text(OpaquePointer(entry)).map { String(cString: $0) } ?? ""
    }

    private func edited() {
        let before = form.suggestions
        (form.name, form.words) = (text(name), text(person))
        show()
        let found = form.suggestions
        if found != before, !found.isEmpty { Announcer.say(found.map(\.spoken).joined(separator: "; ")) }
    }

    // MARK: Guests

    private func addWritten() {
        guard !form.words.allSatisfy(\.isWhitespace) else { return submit() }
        change { form throws(GroupForm.Problem) in try form.addWritten() }
    }

    /// Changes the form, and announces the guest that was added, or the problem.
    private func change(_ body: (inout GroupForm) throws(GroupForm.Problem) -> Void) {
        let before = form
        do throws(GroupForm.Problem) { try body(&form) } catch { return show(problem: error.words) }
        if form.picture != before.picture {
            show()
            return Announcer.say(form.picture == nil ? Words.pictureRemoved : Words.pictureChosen)
        }
        gtk_editable_set_text(OpaquePointer(person), form.words)
        show()
        person.focus()
        if let added = form.guests.last, form.guests.count > before.guests.count {
            Announcer.say(Words.guestAdded(added.name))
        }
    }

    private func show(problem words: String? = nil) {
        problem.setText(words ?? "")
        problem.show(words != nil)
        if let words { Announcer.say(words) }
        gtk_widget_set_sensitive(submitButton, form.isComplete ? 1 : 0)
        picture.show(form.picture, name: form.name)
        fill(
            suggestions,
            form.suggestions.map { guest in
                Make.button(guest.spoken) { [weak self] in
                    self?.change { form throws(GroupForm.Problem) in try form.add(guest) }
                }
            })
        fill(guests, form.guests.map(guestRow))
    }

    private func guestRow(_ guest: GroupGuest) -> Widget {
        let label = Make.label(guest.spoken)
        label.wrapText()
        gtk_widget_set_hexpand(label, 1)
        let remove = Make.iconButton(.remove, Words.remove(guest.name)) { [weak self] in
            self?.change { form in form.remove(guest) }
        }
        return Make.horizontal(label, remove, spacing: 8)
    }

    private func fill(_ box: Widget, _ rows: [Widget]) {
        while let child = gtk_widget_get_first_child(box) { gtk_box_remove(cast(raw(box)), child) }
        for row in rows { box.append(row) }
        box.show(!rows.isEmpty)
        Names.fill(box)
    }

    /// The group is stored, or can be submitted again.
    func submitted() { isSubmitting = false }

    private func submit() {
        guard !isSubmitting else { return }
        do throws(GroupForm.Problem) {
            let guests = try form.submit()
            isSubmitting = true
            onSubmit(form, guests)
        } catch {
            show(problem: error.words)
        }
    }
}
