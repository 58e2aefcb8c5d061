import CAdwaita
import KalijApp

/// A row of a conversation: a message, a day, the unread line, or a gap.
final class ThreadRowView: RowView {
    let root = Make.box(GTK_ORIENTATION_VERTICAL)
    /// Called when the button of a gap was pressed.
    var onLoad: (GapRow) -> Void = { _ in }
    /// Called when the button of new devices was pressed.
    var onKeys: (KeyLine) -> Void = { _ in }
    /// Called when the button of an action was pressed.
    var onAction: (MessageAction, MessageRow) -> Void = { _, _ in }
    /// Called when the chip of an emoji was pressed.
    var onReact: (MessageRow, String) -> Void = { _, _ in }
    private var chips: ReactionChips?
    var anchor: Widget { bubble }
    /// Called when the button of the row above the oldest message was pressed.
    var onOlder: () -> Void = {}
    /// Called when an address in the text was clicked.
    var onLink: (TextLink) -> Void = { _ in }
    /// Called when a button of a message's file was pressed.
    var onFile: (MessageRow, FileAction) -> Void = { _, _ in }
    private let bubble = Make.box(GTK_ORIENTATION_VERTICAL, spacing: 2)
    private let text = Make.silentLabel(classes: "message-text")
    private let foot = Make.silentLabel(classes: "foot", "caption")
    // Created on demand: most rows are a text with a line under it.
    private var line: Widget?
    private var author: Widget?
    private var answered: Widget?
    private var load: Widget?
    private var resend: Widget?
    private var file: FileView?
    private var message: MessageRow?
    private var gap: GapRow?
    private var keys: KeyLine?
    private var color = 0

    init() {
        text.wrapText()
        gtk_label_set_max_width_chars(opaque(text), 56)
        // Tab leaves the list: the menu and Enter open the addresses by keyboard.
        gtk_widget_set_can_focus(text, 0)
        connect(text, "activate-link") { [weak self] arguments in
            arguments.answer(true)
            guard let self, let address = arguments.string(1) else { return }
            if let link = message?.links.first(where: { $0.address == address }) { onLink(link) }
        }
        gtk_label_set_xalign(opaque(foot), 1)
        foot.wrapText()
        gtk_label_set_max_width_chars(opaque(foot), 56)
        for label in [text, foot] { bubble.append(label) }
        bubble.addClass("bubble")
        root.addClass("thread-row")
        root.append(bubble)
    }

    func show(_ row: ThreadRow) {
        load?.show(false)
        (message, gap, keys) = (row.message, nil, nil)
        switch row {
        case .message(let message, let showsAuthor, let continues): show(message, showsAuthor, continues)
        case .day(let at): show(line: Times.day(at), "day-line")
        case .unread: show(line: Words.newMessages, "unread-line")
        case .gap(let gap): show(gap)
        case .keys(let line): show(line)
        case .beginning(let beginning): show(beginning)
        }
    }

    private func show(_ beginning: Beginning) {
        show(line: beginning.words, "gap-line")
        let button = load.show(beginning.action != nil, made: makeLoad)
        if let button, let action = beginning.action { gtk_button_set_label(cast(raw(button)), action) }
    }

    private func show(line words: String, _ kind: String) {
        bubble.show(false)
        let line = self.line.show(true, made: makeLine)
        line?.setText(words)
        root.setClass("continues", false)
        for name in ["day-line", "unread-line", "gap-line"] { line?.setClass(name, name == kind) }
    }

    private func show(_ message: MessageRow, _ showsAuthor: Bool, _ continues: Bool) {
        line?.show(false)
        bubble.show(true)
        if let author = author.show(showsAuthor, made: makeAuthor) { name(author, message) }
        answered.show(message.answered != nil, made: makeAnswered)?.setText(message.answered ?? "")
        show(textOf: message)
        text.setClass("notice", message.isNotice)
        show(message.reactions)
        show(fileOf: message)
        foot.setText((message.isCut ? Words.cut + "\n" : "") + message.foot(Times.clock(message.at)))
        let isProblem = message.state?.isProblem ?? false
        foot.setClass("error", isProblem)
        resend.show(isProblem && message.actions.contains(.resend), made: makeResend)
        bubble.setClass("own", message.isOwn)
        bubble.setClass("other", !message.isOwn)
        root.setClass("continues", continues)
        gtk_widget_set_halign(bubble, message.isOwn ? GTK_ALIGN_END : GTK_ALIGN_START)
    }

    private func show(textOf message: MessageRow) {
        if message.links.isEmpty { return text.setText(message.text) }
        gtk_label_set_markup(opaque(text), TextLink.markup(message.text, message.links))
    }

    private func show(_ reactions: [ReactionCount]) {
        guard !reactions.isEmpty || chips != nil else { return }
        let shown = chips ?? ReactionChips(after: text, in: bubble)
        chips = shown
        shown.onPressed = { [weak self] emoji in if let self, let message { onReact(message, emoji) } }
        shown.show(reactions)
    }

    private func makeResend() -> Widget {
        let made = Make.button(Words.sendAgain, classes: "file-action") { [weak self] in
            if let self, let message { onAction(.resend, message) }
        }
        // The name of a button includes that of its label.
        Names.fill(made)
        gtk_widget_set_halign(made, GTK_ALIGN_END)
        bubble.append(made)
        return made
    }

    private func show(fileOf message: MessageRow) {
        file?.root.show(message.file != nil)
        guard let row = message.file else { return }
        let view = file ?? FileView()
        if file == nil {
            file = view
            view.onAction = { [weak self] action in
                if let self, let message = self.message { onFile(message, action) }
            }
            gtk_box_insert_child_after(cast(raw(bubble)), view.root, text)
        }
        view.show(row)
    }

    private func name(_ author: Widget, _ message: MessageRow) {
        author.setText(message.author)
        author.setClass("hue-\(color)", false)
        color = PersonColor.place(of: message.authorKey)
        author.setClass("hue-\(color)", true)
    }

    private func makeLine() -> Widget {
        let made = Make.silentLabel(classes: "thread-line", "caption-heading")
        made.wrapText()
        gtk_label_set_justify(opaque(made), GTK_JUSTIFY_CENTER)
        gtk_label_set_xalign(opaque(made), 0.5)
        gtk_widget_set_halign(made, GTK_ALIGN_CENTER)
        gtk_box_prepend(cast(raw(root)), made)
        return made
    }

    private func makeAuthor() -> Widget {
        let made = Make.silentLabel(classes: "author", "caption-heading")
        gtk_label_set_ellipsize(opaque(made), PANGO_ELLIPSIZE_END)
        gtk_label_set_max_width_chars(opaque(made), 40)
        gtk_box_prepend(cast(raw(bubble)), made)
        return made
    }

    private func makeAnswered() -> Widget {
        let made = Make.silentLabel(classes: "answered")
        gtk_label_set_ellipsize(opaque(made), PANGO_ELLIPSIZE_END)
        gtk_label_set_max_width_chars(opaque(made), 56)
        gtk_box_insert_child_after(cast(raw(bubble)), made, author)
        return made
    }

    private func show(_ gap: GapRow) {
        show(line: gap.words, "gap-line")
        self.gap = gap
        let button = load.show(gap.kind == .missing, made: makeLoad)
        if let button { gtk_button_set_label(cast(raw(button)), Words.load) }
    }

    private func show(_ line: KeyLine) {
        show(line: line.words, "gap-line")
        keys = line
        if let button = load.show(line.state != .verified, made: makeLoad) {
            gtk_button_set_label(cast(raw(button)), Words.devicesAndKeys)
        }
    }

    private func makeLoad() -> Widget {
        let made = Make.button(Words.load, classes: "pill") { [weak self] in
            guard let self else { return }
            if let keys { onKeys(keys) } else if let gap { onLoad(gap) } else { onOlder() }
        }
        gtk_widget_set_halign(made, GTK_ALIGN_CENTER)
        root.append(made)
        return made
    }

    func spoken(_ row: ThreadRow) -> String {
        switch row {
        case .message(let message, _, _): message.spoken(Times.clock(message.at))
        case .day(let at): Times.day(at)
        case .unread: Words.newMessages
        case .gap(let gap): gap.words
        case .keys(let line): line.words
        case .beginning(let beginning): beginning.words
        }
    }

    static func isSame(_ one: ThreadRow, _ other: ThreadRow) -> Bool {
        switch (one, other) {
        case (.message(let one, _, _), .message(let other, _, _)): one.id == other.id
        case (.day(let one), .day(let other)): Days.number(one) == Days.number(other)
        case (.unread, .unread), (.beginning, .beginning): true
        case (.gap(let one), .gap(let other)): one == other
        case (.keys(let one), .keys(let other)): one.isSame(as: other)
        default: false
        }
    }
}
