import CAdwaita
import KalijApp

/// The input field for messages.
final class Composer {
    let root: Widget
    let text = widget(OpaquePointer(gtk_text_view_new()))
    var onSend: (String) -> Void = { _ in }
    /// Called with a changed text, to store it as the draft.
    var onDraft: (String) -> Void = { _ in }
    /// Called to send files with a text.
    var onSendFiles: ([Attachment], String) -> Void = { _, _ in }
    /// Called with a description of why a file is not attached.
    var onProblem: (String) -> Void = { _ in }
    let strip = AttachmentStrip()
    private let hint = Make.silentLabel(classes: "composer-hint")
    private let send: Widget
    private var kept = ""
    private var isWaiting = false
    private var isFilling = false

    /// The delay in milliseconds before a draft is stored: a kill loses no more than that.
    private static let keptWithin: UInt32 = 300

    init() {
        send = widget(OpaquePointer(gtk_button_new_from_icon_name("go-up-symbolic")))
        root = Make.box(GTK_ORIENTATION_HORIZONTAL, spacing: 8)
        build()
        listen()
    }

    private func build() {
        gtk_text_view_set_accepts_tab(cast(raw(text)), 0)
        gtk_text_view_set_wrap_mode(cast(raw(text)), GTK_WRAP_WORD_CHAR)
        gtk_text_view_set_top_margin(cast(raw(text)), 8)
        gtk_text_view_set_bottom_margin(cast(raw(text)), 8)
        kalij_name(text, Words.message)
        let scrolled = widget(OpaquePointer(gtk_scrolled_window_new()))
        gtk_scrolled_window_set_policy(opaque(scrolled), GTK_POLICY_NEVER, GTK_POLICY_EXTERNAL)
        gtk_scrolled_window_set_propagate_natural_height(opaque(scrolled), 1)
        gtk_scrolled_window_set_max_content_height(opaque(scrolled), 150)
        gtk_scrolled_window_set_child(opaque(scrolled), text)
        hint.setText(Words.message)
        gtk_widget_set_can_target(hint, 0)
        gtk_widget_set_valign(hint, GTK_ALIGN_CENTER)
        let overlay = widget(OpaquePointer(gtk_overlay_new()))
        gtk_overlay_set_child(opaque(overlay), scrolled)
        gtk_overlay_add_overlay(opaque(overlay), hint)
        overlay.addClass("composer-frame")
        gtk_widget_set_hexpand(overlay, 1)
        gtk_widget_set_tooltip_text(send, Words.send)
        kalij_name(send, Words.send)
        for name in ["circular", "suggested-action", "send"] { send.addClass(name) }
        gtk_widget_set_valign(send, GTK_ALIGN_END)
        root.addClass("composer")
        let attach = Make.iconButton("mail-attachment-symbolic", Words.attach) { [weak self] in self?.chooseFiles() }
        for name in ["circular", "flat", "send"] { attach.addClass(name) }
        gtk_widget_set_valign(attach, GTK_ALIGN_END)
        root.append(attach)
        root.append(overlay)
        root.append(send)
    }

    private func listen() {
        connect(send, "clicked") { [weak self] _ in self?.submit() }
        if let keys = gtk_event_controller_key_new() {
            connect(keys, "key-pressed") { [weak self] arguments in
                let isEnter = [UInt32(GDK_KEY_Return), UInt32(GDK_KEY_KP_Enter)].contains(arguments.uint(1))
                guard isEnter, arguments.flags(3) & Int32(GDK_SHIFT_MASK.rawValue) == 0 else {
                    return arguments.answer(false)
                }
                self?.submit()
                arguments.answer(true)
            }
            gtk_widget_add_controller(text, keys)
        }
        strip.onChanged = { [weak self] in self?.changed() }
        guard let buffer = gtk_text_view_get_buffer(cast(raw(text))) else { return }
        connect(raw(buffer), "changed") { [weak self] _ in self?.changed() }
        changed()
    }

    /// The current text.
    var written: String {
        guard let buffer = gtk_text_view_get_buffer(cast(raw(text))) else { return "" }
        var (start, end) = (GtkTextIter(), GtkTextIter())
        gtk_text_buffer_get_bounds(buffer, &start, &end)
        guard let bytes = gtk_text_buffer_get_text(buffer, &start, &end, 0) else { return "" }
        defer { g_free(bytes) }
        return String(cString: bytes)
    }

    /// Displays a stored draft.
    func fill(_ draft: String) {
        guard let buffer = gtk_text_view_get_buffer(cast(raw(text))) else { return }
        isFilling = true
        gtk_text_buffer_set_text(buffer, draft, Int32(draft.utf8.count))
        isFilling = false
        kept = draft
    }

    /// Another conversation is opened: stores the text as the draft of the previous one, and clears it.
    func leave() {
        keep()
        fill("")
        for file in strip.removeAll() { file.discard() }
    }

    /// Displays the stored draft of a conversation, before the text that was typed while the draft was read.
    func begin(with draft: String) {
        if written.isEmpty { fill(draft) } else if !draft.isEmpty { giveBack(draft) }
    }

    /// Restores a text that was not accepted, before the text that was typed since.
    func giveBack(_ text: String) {
        let since = written
        fill(since.isEmpty ? text : text + "\n" + since)
        kept = ""
        changed()
    }

    /// Restores files that were not accepted, with their text.
    func giveBack(_ files: [Attachment], _ text: String) {
        strip.add(files)
        if !text.isEmpty { giveBack(text) }
    }

    private func changed() {
        let isEmpty = written.isEmpty
        hint.setText(strip.files.isEmpty ? Words.message : Words.description)
        hint.show(isEmpty)
        gtk_widget_set_sensitive(send, isEmpty && strip.files.isEmpty ? 0 : 1)
        guard !isFilling, !isWaiting else { return }
        isWaiting = true
        after(Self.keptWithin) { [weak self] in
            self?.isWaiting = false
            self?.keep()
        }
    }

    /// Stores the draft now.
    func keep() {
        let draft = written
        guard draft != kept else { return }
        kept = draft
        onDraft(draft)
    }

    private func submit() {
        let body = written
        let files = strip.files.isEmpty ? [] : strip.removeAll()
        guard files.isEmpty else {
            fill("")
            changed()
            return onSendFiles(files, body)
        }
        guard body.contains(where: { !$0.isWhitespace }) else { return }
        fill("")
        onSend(body)
    }
}
