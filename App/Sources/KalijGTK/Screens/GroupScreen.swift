import CAdwaita
import KalijApp

/// A group: its name, its topic and its members, with the actions that the account may perform.
final class GroupScreen {
    let root = Make.box(GTK_ORIENTATION_VERTICAL)
    let list = ListView<MemberRowView>(name: Words.members, activatesOnClick: true)
    var onBack: () -> Void = {}
    var onAction: (GroupAction, GroupPage) -> Void = { _, _ in }
    var onMember: (MemberAction, MemberRow, GroupPage) -> Void = { _, _, _ in }
    var onNotify: (ConversationAction, GroupPage) -> Void = { _, _ in }
    private(set) var page: GroupPage?
    private lazy var members = GrowingList(list)
    private let title = widget(OpaquePointer(adw_window_title_new("", "")))
    private let avatar = Make.avatar(48)
    private let topic = Make.label()
    private let encryption = Make.label(classes: "dim-label")
    private let problem = Make.label(classes: "error")
    private let waiting = Make.label(classes: "dim-label")
    private lazy var notifications = NotificationsButton(over: root)
    private let actions: Widget
    private var picture: String?
    private static let mostOfTopic = 600

    init() {
        actions = widget(OpaquePointer(gtk_button_new_from_icon_name(Icon.actions.rawValue)))
        build()
        list.onActivate = { [weak self] place in self?.showMenu(ofMember: place) }
        list.listenForMenu(over: root) { [weak self] place, at in self?.showMenu(ofMember: place, at: at) }
    }

    private func build() {
        let header = Make.header(title) { [weak self] in self?.onBack() }
        actions.setTooltip(Words.actions)
        connect(actions, "clicked") { [weak self] _ in self?.showMenu() }
        adw_header_bar_pack_end(opaque(header), actions)
        for label in [topic, problem, encryption, waiting] {
            label.wrapText()
            label.show(false)
        }
        // Topics of any length leave room for the members.
        gtk_label_set_lines(opaque(topic), 3)
        gtk_label_set_ellipsize(opaque(topic), PANGO_ELLIPSIZE_END)
        // GTK 4.8 measures a text of two letters, whose lines may break, as narrower than an ellipsis, and warns of it.
        gtk_label_set_width_chars(opaque(topic), 3)
        gtk_widget_set_halign(notifications.root, GTK_ALIGN_START)
        notifications.onChosen = { [weak self] action in if let self, let page { onNotify(action, page) } }
        let texts = Make.vertical(topic, problem, encryption, waiting, notifications.root, spacing: 4)
        gtk_widget_set_valign(texts, GTK_ALIGN_CENTER)
        gtk_widget_set_hexpand(texts, 1)
        let top = Make.horizontal(avatar, texts, spacing: 12)
        top.margins(12)
        list.view.addClass("conversations")
        let scrolled = Make.scrolled(list.view)
        gtk_widget_set_vexpand(scrolled, 1)
        for part in [header, top, scrolled] { root.append(part) }
    }

    func show(_ page: GroupPage) {
        let isOther = page.key != self.page?.key
        self.page = page
        adw_window_title_set_title(opaque(title), page.name)
        adw_window_title_set_subtitle(opaque(title), Words.memberCount(page.members.count))
        Make.show(page.name, page.key.jid, in: avatar)
        if page.picture != picture {
            picture = page.picture
            Make.show(page.picture, in: avatar)
        }
        // Beyond what three lines hold, Pango would lay out the rest for each width.
        topic.setText(String(page.topic.prefix(Self.mostOfTopic)))
        topic.show(!page.topic.isEmpty)
        notifications.show(page.notifications)
        problem.setText(page.problem ?? "")
        problem.show(page.problem != nil)
        encryption.setText(page.encryption)
        encryption.show(true)
        actions.show(!page.actions.isEmpty)
        members.show(page.members, isOther: isOther)
        kalij_description(list.view, Words.memberCount(page.members.count))
    }

    /// - Parameter count: the number of changes without an answer.
    func show(waiting count: Int) {
        waiting.setText(count > 0 ? Words.waitingForGroup : "")
        waiting.show(count > 0)
    }

    /// Focuses the first member.
    func focus() { list.focusRow(or: list.rows.indices.first) }

    // MARK: Menus

    private func showMenu() {
        guard let page, let at = ContextMenu.place(of: actions, in: root) else { return }
        let items = { (isDestructive: Bool) in
            page.actions.filter { $0.isDestructive == isDestructive }.map { action in
                MenuItem(action.words) { [weak self] in self?.onAction(action, page) }
            }
        }
        ContextMenu.show([items(false), items(true)], over: root, at: at) { [weak self] in self?.actions.focus() }
    }

    private func showMenu(ofMember place: Int, at bounds: GdkRectangle? = nil) {
        guard list.rows.indices.contains(place), let page, let at = bounds ?? list.bounds(of: place, in: root) else {
            return
        }
        let member = list.rows[place]
        let items = { (isDestructive: Bool) in
            member.actions.filter { $0.isDestructive == isDestructive }.map { action in
                MenuItem(action.words) { [weak self] in self?.onMember(action, member, page) }
            }
        }
        ContextMenu.show([items(false), items(true)], over: root, at: at) { [weak self] in
            self?.list.focusRow(or: place)
        }
    }
}
