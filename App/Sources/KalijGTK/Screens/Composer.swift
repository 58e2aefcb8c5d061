import CAdwaita
import KalijApp
import KalijClient

/// The input field for messages.
final class Composer {
    let root: Widget
    let text = widget(OpaquePointer(gtk_text_view_new()))
    /// The line above the text: what the text replies to, or corrects.
    let bar = ComposerBar()
    var onSend: (String, Composing) -> Void = { _, _ in }
    /// Called in an empty field, to correct the last own message.
    var onCorrectLast: () -> Void = {}
    /// Called when the text is no longer a correction, so that the draft is displayed again.
    var onCorrectionEnded: () -> Void = {}
    var composing = Composing.message
    /// Called with a changed text, to store it as the draft.
    var onDraft: (StoredDraft) -> Void = { _ in }
    /// Called with the user's state in the chat when it has changed.
    var onTyping: (ChatState) -> Void = { _ in }
    /// Called to send files with a text.
    var onSendFiles: ([Attachment], String) -> Void = { _, _ in }
    /// Called with a description of why a file is not attached.
    var onProblem: (String) -> Void = { _ in }
    /// Called with files for a conversation that is no longer open.
    var onLateFiles: ([Attachment], ConversationKey?) -> Void = { files, _ in files.forEach { $0.discard() } }
    /// The open conversation.
    var conversation: () -> ConversationKey? = { nil }
    let strip = AttachmentStrip()
    private let hint = Make.silentLabel(classes: "composer-hint")
    /// What an empty field displays: whether the message will be encrypted.
    var placeholder = Words.message {
        didSet { if placeholder != oldValue { showHint() } }
    }
    /// To whom the open conversation is.
    var recipient = "" {
        didSet { if recipient != oldValue { showName() } }
    }
    private let send: Widget
    private var kept = StoredDraft()
    private var typing = OwnTyping()
    private var pause: UInt32?
    private var isWaiting = false
    private var isFilling = false

    /// The delay in milliseconds before a draft is stored: a kill loses no more than that.
    private static let keptWithin: UInt32 = 300

    init() {
        send = widget(OpaquePointer(gtk_button_new_from_icon_name(Icon.send.rawValue)))
        root = Make.box(GTK_ORIENTATION_HORIZONTAL, spacing: 8)
        build()
        listen()
    }

    private func build() {
        gtk_text_view_set_accepts_tab(cast(raw(text)), 0)
        gtk_text_view_set_wrap_mode(cast(raw(text)), GTK_WRAP_WORD_CHAR)
        gtk_text_view_set_top_margin(cast(raw(text)), 8)
        gtk_text_view_set_bottom_margin(cast(raw(text)), 8)
        showName()
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
        send.setTooltip(Words.send)
        for name in ["circular", "suggested-action", "send"] { send.addClass(name) }
        gtk_widget_set_valign(send, GTK_ALIGN_END)
        root.addClass("composer")
        let attach = Make.iconButton(.attach, Words.attach) { [weak self] in self?.chooseFiles() }
        for name in ["circular", "flat", "send"] { attach.addClass(name) }
        gtk_widget_set_valign(attach, GTK_ALIGN_END)
        root.append(attach)
        root.append(overlay)
        root.append(send)
    }

    private func listen() {
        bar.onCancel = { [weak self] in self?.cancel() }
        connect(send, "clicked") { [weak self] _ in self?.submit() }
        if let keys = gtk_event_controller_key_new() {
            connect(keys, "key-pressed") { [weak self] arguments in
                if self?.handled(arguments.uint(1), arguments.flags(3)) ?? false { return arguments.answer(true) }
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

    /// Displays a text that is stored already, or is no draft.
    func fill(_ stored: String) {
        guard let buffer = gtk_text_view_get_buffer(cast(raw(text))) else { return }
        isFilling = true
        gtk_text_buffer_set_text(buffer, stored, Int32(stored.utf8.count))
        isFilling = false
        kept = StoredDraft(stored, composing)
    }

    /// Another conversation is opened: stores the text as the draft of the previous one, and clears it.
    /// - Returns: the files that were attached.
    func leave() -> [Attachment] {
        keep()
        pauseTyping()
        typing = OwnTyping()
        compose(.message)
        fill("")
        return strip.removeAll()
    }

    /// Displays the stored draft of a conversation, before the text that was typed while the draft was read, or the correction that
    /// was in progress.
    func begin(with draft: StoredDraft, correcting correction: StoredDraft? = nil, _ files: [Attachment] = []) {
        strip.add(files)
        guard written.isEmpty else { return draft.text.isEmpty ? () : giveBack(draft) }
        let shown = correction ?? draft
        if composing == .message, shown.composing != .message { compose(shown.composing) }
        fill(shown.text)
    }

    /// Restores a text that was not accepted, before the text that was typed since.
    func giveBack(_ draft: StoredDraft) {
        let since = written
        if composing == .message { compose(draft.composing) }
        fill(since.isEmpty ? draft.text : draft.text + "\n" + since)
        kept = StoredDraft()
        changed()
    }

    /// Displays a draft that was stored meanwhile.
    func replace(with draft: StoredDraft) {
        compose(draft.composing)
        fill(draft.text)
        changed()
    }

    /// Restores files that were not accepted, with their text.
    func giveBack(_ files: [Attachment], _ text: String) {
        strip.add(files)
        if !text.isEmpty { giveBack(StoredDraft(text)) }
    }

    private func changed() {
        let text = written
        let isEmpty = text.isEmpty
        // Between words, the breaks of a run of 70,000 letters take 17 s, and 11 s at each letter more.
        gtk_text_view_set_wrap_mode(cast(raw(self.text)), text.hasLongRun ? GTK_WRAP_CHAR : GTK_WRAP_WORD_CHAR)
        showHint()
        hint.show(isEmpty)
        gtk_widget_set_sensitive(send, isEmpty && strip.files.isEmpty ? 0 : 1)
        guard !isFilling else { return }
        type(isEmpty: isEmpty)
        guard !isWaiting else { return }
        isWaiting = true
        after(Self.keptWithin) { [weak self] in
            self?.isWaiting = false
            self?.keep()
        }
    }

    /// A screen reader says the name when the text receives the focus, and when the name changes meanwhile. With a description it would say
    /// two things, at the first visit one of them twice (GTK 4.8).
    func showName() { kalij_name(text, composing.name(to: recipient)) }

    private func showHint() { hint.setText(strip.files.isEmpty ? placeholder : Words.description) }

    /// Stores the draft, or the correction, now.
    func keep() {
        let draft = StoredDraft(written, composing)
        guard !draft.isSame(as: kept) else { return }
        kept = draft
        onDraft(draft)
    }

    func submit() {
        let (body, meaning) = (written, composing)
        let hasText = body.contains { !$0.isWhitespace }
        if case .correction(_, body) = meaning { return _ = cancel() }
        let files = meaning.isCorrection || strip.files.isEmpty ? [] : strip.removeAll()
        guard hasText || !files.isEmpty else { return }
        fill("")
        compose(.message)
        // A correction has no state of its own.
        if meaning.isCorrection { type(isEmpty: true) } else { typing.sent() }
        changed()
        // A text that replies to a message is a message of its own; any other text follows the files.
        let isApart = hasText && (files.isEmpty || meaning.answered != nil)
        if isApart { onSend(body, meaning) }
        if !files.isEmpty { onSendFiles(files, isApart ? "" : body) }
        if meaning.isCorrection { onCorrectionEnded() }
    }

    // MARK: The state in the chat

    private func type(isEmpty: Bool) {
        if let state = typing.changed(isEmpty: isEmpty) { onTyping(state) }
        if let pause { g_source_remove(pause) }
        pause =
            isEmpty
            ? nil
            : after(OwnTyping.pause) { [weak self] in
                self?.pause = nil
                self?.pauseTyping()
            }
    }

    private func pauseTyping() { if let state = typing.paused() { onTyping(state) } }
}
