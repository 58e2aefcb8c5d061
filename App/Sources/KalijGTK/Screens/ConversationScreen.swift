import CAdwaita
import KalijApp

/// An open conversation: its messages, and the composer.
final class ConversationScreen {
    let root: Widget
    let list = ListView<ThreadRowView>(name: Words.messages, activatesOnClick: false)
    let composer = Composer()
    private(set) lazy var mentions = MentionPopover(composer.text, in: composer.root)
    let back: Widget
    /// Called when rows before, or after, the loaded ones are needed.
    var onOlder: () -> Void = {}
    var onNewer: () -> Void = {}
    var onBack: () -> Void = {}
    /// The head of the open group that was read last.
    var head: GroupHead?
    /// Called when the group, or the contact, is requested.
    var onDetails: () -> Void = {}
    private(set) lazy var details = Make.iconButton(.person, "") { [weak self] in
        self?.onDetails()
    }
    var onLoad: (GapRow) -> Void = { _ in }
    /// Called when the devices of a line are requested.
    var onKeys: (KeyLine) -> Void = { _ in }
    /// Called when older messages of the server are requested.
    var onFetch: () -> Void = {}
    /// Called for an action on a message's file.
    var onFile: (MessageRow, FileAction) -> Void = { _, _ in }
    /// Called to open an address in a message, and to copy it.
    var onLink: (TextLink) -> Void = { _ in }
    var onCopyLink: (TextLink) -> Void = { _ in }
    /// Called when the visible part has changed.
    var onScrolled: () -> Void = {}
    private let title = widget(OpaquePointer(adw_window_title_new("", "")))
    private let stack = Pages()
    private let nothing = Make.status(.program, Words.nothingOpen, Words.nothingOpenHint)
    private let empty = Make.status(.message, Words.noMessages, "")
    private let pane = Make.box(GTK_ORIENTATION_VERTICAL)
    private let inner = Pages()
    private let scrolled: Widget
    private let overlay = widget(OpaquePointer(gtk_overlay_new()))
    private(set) lazy var actions = MessageActionsButton(list, over: overlay)
    private let toLatest: Widget
    private let typing = Make.label(classes: "typing")

    init() {
        root = Make.box(GTK_ORIENTATION_VERTICAL)
        scrolled = Make.scrolled(list.view)
        back = widget(OpaquePointer(gtk_button_new_from_icon_name(Icon.back.rawValue)))
        toLatest = widget(OpaquePointer(gtk_button_new_from_icon_name(Icon.toLatest.rawValue)))
        list.view.addClass("messages")
        list.reusesWidgets = true
        list.onMade = { [weak self] row in
            row.onLoad = { gap in self?.onLoad(gap) }
            row.onAction = { action, message in self?.onAction(action, message) }
            row.onReact = { message, emoji in self?.onReact(message, emoji) }
            row.onKeys = { line in self?.onKeys(line) }
            row.onLink = { link in self?.onLink(link) }
            row.onOlder = { self?.onFetch() }
            row.onFile = { message, action in self?.onFile(message, action) }
        }
        list.onActivate = { [weak self] place in self?.activate(place) }
        build()
        listen()
    }

    private func build() {
        let header = widget(OpaquePointer(adw_header_bar_new()))
        adw_header_bar_set_title_widget(opaque(header), title)
        back.setTooltip(Words.back)
        adw_header_bar_pack_start(opaque(header), back)
        adw_header_bar_pack_end(opaque(header), details)
        toLatest.setTooltip(Words.toLatest)
        for name in ["circular", "osd", "to-latest"] { toLatest.addClass(name) }
        gtk_widget_set_halign(toLatest, GTK_ALIGN_END)
        gtk_widget_set_valign(toLatest, GTK_ALIGN_END)
        toLatest.show(false)
        gtk_overlay_set_child(opaque(overlay), scrolled)
        gtk_overlay_add_overlay(opaque(overlay), toLatest)
        gtk_widget_set_vexpand(inner.root, 1)
        inner.add(overlay, "")
        inner.add(empty, Words.noMessages)
        typing.show(false)
        pane.addClass("thread-pane")
        for part in [inner.root, typing, composer.bar.root, composer.strip.root, composer.root] { pane.append(part) }
        composer.listenForFiles(over: pane)
        stack.add(nothing, Words.nothingOpen)
        stack.add(pane, "")
        gtk_widget_set_vexpand(stack.root, 1)
        gtk_widget_set_hexpand(root, 1)
        root.append(header)
        root.append(stack.root)
    }

    private func listen() {
        connect(back, "clicked") { [weak self] _ in self?.onBack() }
        connect(toLatest, "clicked") { [weak self] _ in self?.onLatest() }
        guard let adjustment = gtk_scrolled_window_get_vadjustment(opaque(scrolled)) else { return }
        connect(raw(adjustment), "value-changed") { [weak self] _ in self?.scrolledTo() }
        list.onSettled = { [weak self] in self?.scrolledTo() }
        list.onScroll = { [weak self] toEnd in self?.follow(.scrolls(toEnd: toEnd)) }
        listenForPersons()
        listenForActions()
    }

    /// Called when the user requests the newest messages.
    var onLatest: () -> Void = {}

    /// Called when an action on a message was chosen.
    var onAction: (MessageAction, MessageRow) -> Void = { _, _ in }
    /// Called when the user chose an emoji for a message.
    var onReact: (MessageRow, String) -> Void = { _, _ in }
    /// Called when the user undoes the last deletion.
    var onUndo: () -> Void = {}

    /// Enter performs the action of a row: the first one of a message's file, sending a message again, opening an address, or loading
    /// what is missing.
    private func activate(_ place: Int) {
        switch list.rows[place] {
        case .message(let message, _, _):
            if let action = message.file?.actions.first { return onFile(message, action) }
            if message.actions.contains(.resend) { return onAction(.resend, message) }
            if message.links.count > 1 { return showLinks(of: message, at: place) }
            if let link = message.links.first { onLink(link) }
        case .gap(let gap): if gap.kind == .missing { onLoad(gap) }
        case .keys(let line): onKeys(line)
        case .beginning(let beginning): if beginning.action != nil { onFetch() }
        case .day, .unread: break
        }
    }

    // MARK: What is shown

    /// - Parameters:
    ///   - name: nil if nothing is open.
    ///   - subtitle: nil to leave it.
    func show(name: String?, subtitle: String?, isGroup: Bool = false) {
        showDetails(Words.details(of: name ?? "", isGroup: isGroup), isGroup ? .people : .person)
        adw_window_title_set_title(opaque(title), name ?? "")
        composer.recipient = name ?? ""
        if let subtitle { adw_window_title_set_subtitle(opaque(title), subtitle) }
        details.show(name != nil)
        stack.show(name == nil ? nothing : pane)
    }

    private func showDetails(_ words: String, _ icon: Icon) {
        guard gtk_widget_get_tooltip_text(details).map({ String(cString: $0) }) != words else { return }
        gtk_button_set_icon_name(cast(raw(details)), icon.rawValue)
        details.setTooltip(words)
        Names.fill(details)
    }

    /// The rows that fill the screen are laid out before the others.
    /// - Parameter middle: the position of the row in the middle; nil to lay out all.
    func layOut(around middle: Int?) {
        let beside = Window.beside(height: Int(gtk_widget_get_height(root)))
        list.laidOut = middle.map { $0 - beside..<$0 + beside + 1 }
    }

    func show(_ rows: [ThreadRow], name: String) {
        inner.show(rows.isEmpty ? empty : overlay)
        list.show(rows)
        actions.update()
        let count = rows.count { $0.message != nil }
        kalij_description(list.view, Words.messagesWith(name) + ", " + Words.arrived(count))
    }

    func show(typing words: String?) {
        typing.setText(words ?? "")
        typing.show(words != nil)
    }

    /// Whether the newest loaded row is visible, or will be after scrolling.
    var isAtEnd: Bool { list.isScrollingToEnd ?? following.isOn }

    private var following = Following()

    private func follow(_ event: Following.Event) {
        if following.handle(event, at: steadyNow()) { list.scroll(to: list.rows.count - 1) }
    }

    /// Observes all input that may scroll the list.
    private func listenForPersons() {
        let made: [(OpaquePointer?, signal: String, asks: Bool)] = [
            (gtk_event_controller_key_new(), "key-pressed", true),
            (gtk_event_controller_scroll_new(GTK_EVENT_CONTROLLER_SCROLL_BOTH_AXES), "scroll", true),
            (gtk_gesture_click_new(), "pressed", false), (gtk_gesture_drag_new(), "drag-update", false),
        ]
        for case (let controller?, let signal, let asks) in made {
            gtk_event_controller_set_propagation_phase(controller, GTK_PHASE_CAPTURE)
            connect(controller, signal) { [weak self] arguments in
                self?.follow(.acted)
                if asks { arguments.answer(false) }
            }
            gtk_widget_add_controller(scrolled, controller)
        }
    }

    private static let nearEnd = 60.0
    private static let nearBegin = 400.0

    func showToLatest(_ isShown: Bool) { toLatest.show(isShown) }

    private func scrolledTo() {
        actions.update()
        guard let adjustment = gtk_scrolled_window_get_vadjustment(opaque(scrolled)), !list.isScrolling else { return }
        let end = gtk_adjustment_get_value(adjustment) + gtk_adjustment_get_page_size(adjustment)
        follow(.moved(isAtEnd: end >= gtk_adjustment_get_upper(adjustment) - Self.nearEnd))
        onScrolled()
        if gtk_adjustment_get_value(adjustment) < Self.nearBegin { onOlder() }
        if isAtEnd { onNewer() }
    }

    /// The message at the top of the visible part.
    var topMessage: MessageRow? {
        for y in [4.0, 24, 48, 80] {
            if let place = list.place(atHeight: y), let found = list.rows[place...].first(where: { $0.message != nil })
            {
                return found.message
            }
        }
        return nil
    }
}
