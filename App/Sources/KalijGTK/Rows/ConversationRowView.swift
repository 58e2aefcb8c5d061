import CAdwaita
import KalijApp

/// A row of the list of conversations: picture, name, time, last line, unread count; the account if there are several.
final class ConversationRowView: RowView {
    let root: Widget
    private let avatar = Make.avatar(40)
    private let name = Make.silentLabel(classes: "conversation-name")
    private let time = Make.silentLabel(classes: "dim-label", "caption")
    private let line = Make.silentLabel(classes: "dim-label", "conversation-line")
    private let badge = Make.silentLabel(classes: "badge", "numeric")
    private let texts: Widget
    private var account: Widget?
    private var failed: Widget?
    private var muted: Widget?
    private var pinned: Widget?
    private var hidden: Widget?
    private var found: Widget?
    private var picture: String?

    init() {
        for label in [name, line] { Make.fit(label) }
        gtk_widget_set_valign(badge, GTK_ALIGN_CENTER)
        let top = Make.horizontal(name, time, spacing: 6)
        let bottom = Make.horizontal(line, badge, spacing: 6)
        texts = Make.vertical(top, bottom, spacing: 3)
        gtk_widget_set_valign(texts, GTK_ALIGN_CENTER)
        root = Make.horizontal(avatar, texts, spacing: 10)
        root.addClass("conversation")
    }

    func show(_ row: ConversationRow) {
        Make.show(row.name, row.key.jid, in: avatar)
        showPicture(row.picture)
        name.setText(row.name)
        time.setText(row.at > 0 ? Times.short(row.at) : "")
        line.setText(row.line)
        line.setClass("draft", row.draft != nil)
        badge.setText((row.isMentioned ? "@ " : "") + Words.badge(row.unread))
        badge.show(row.unread > 0)
        name.setClass("unread", row.unread > 0)
        failed.show(row.isFailed) { Self.sign(.failed, "error", after: line) }
        muted.show(row.isMuted) { Self.sign(.muted, "dim-label", after: name) }
        pinned.show(row.isPinned) { Self.sign(.pinned, "dim-label", after: name) }
        hidden.show(row.isHidden) { Self.sign(.hidden, "dim-label", after: name) }
        found.show(row.found != nil) { Self.sign(.search, "dim-label", after: name) }
        account.show(row.showsAccount, made: makeAccount)?.setText(row.key.account)
    }

    private static func sign(_ icon: Icon, _ kind: String, after sibling: Widget) -> Widget {
        let made = Make.silentImage(icon)
        for name in ["row-sign", kind] { made.addClass(name) }
        if let box = gtk_widget_get_parent(sibling) { gtk_box_insert_child_after(cast(raw(box)), made, sibling) }
        return made
    }

    private func makeAccount() -> Widget {
        let made = Make.silentLabel(classes: "dim-label", "caption")
        Make.fit(made)
        texts.append(made)
        return made
    }

    private func showPicture(_ path: String?) {
        guard path != picture else { return }
        picture = path
        Make.show(path, in: avatar)
    }

    func spoken(_ row: ConversationRow) -> String { row.spoken(row.at > 0 ? Times.short(row.at) : "") }

    static func isSame(_ one: ConversationRow, _ other: ConversationRow) -> Bool {
        one.key == other.key && one.found == other.found
    }
}
