import CAdwaita
import KalijApp

/// A line of the list of conversations: picture, name, time, last line, unread; the account if there are several.
final class ConversationRowView: RowView {
    let root: Widget
    private let avatar = Make.avatar(40)
    private let name = Make.silentLabel(classes: "conversation-name")
    private let time = Make.silentLabel(classes: "dim-label", "caption")
    private let line = Make.silentLabel(classes: "dim-label", "conversation-line")
    private let account = Make.silentLabel(classes: "dim-label", "caption")
    private let badge = Make.silentLabel(classes: "badge", "numeric")
    private let failed = Make.silentImage("dialog-warning-symbolic")
    private let muted = Make.silentImage("audio-volume-muted-symbolic")
    private var picture: String?

    init() {
        for label in [name, line, account] {
            gtk_label_set_ellipsize(opaque(label), PANGO_ELLIPSIZE_END)
            gtk_label_set_max_width_chars(opaque(label), 8)
            gtk_widget_set_hexpand(label, 1)
        }
        for image in [failed, muted] { image.addClass("row-sign") }
        failed.addClass("error")
        muted.addClass("dim-label")
        gtk_widget_set_valign(badge, GTK_ALIGN_CENTER)
        let top = Make.horizontal(name, muted, time, spacing: 6)
        let bottom = Make.horizontal(line, failed, badge, spacing: 6)
        let texts = Make.vertical(top, bottom, account, spacing: 3)
        gtk_widget_set_valign(texts, GTK_ALIGN_CENTER)
        root = Make.horizontal(avatar, texts, spacing: 10)
        root.addClass("conversation")
    }

    func show(_ row: ConversationRow) {
        adw_avatar_set_text(opaque(avatar), row.name)
        showPicture(row.picture)
        name.setText(row.name)
        time.setText(row.at > 0 ? Times.short(row.at) : "")
        line.setText(row.line)
        line.setClass("draft", row.draft != nil)
        badge.setText(Words.badge(row.unread))
        badge.show(row.unread > 0)
        name.setClass("unread", row.unread > 0)
        failed.show(row.isFailed)
        muted.show(row.isMuted)
        account.setText(row.showsAccount ? row.key.account : "")
        account.show(row.showsAccount)
    }

    private func showPicture(_ path: String?) {
        guard path != picture else { return }
        picture = path
        guard let path, let texture = gdk_texture_new_from_filename(path, nil) else {
            adw_avatar_set_custom_image(opaque(avatar), nil)
            return
        }
        adw_avatar_set_custom_image(opaque(avatar), texture)
        g_object_unref(raw(texture))
    }

    func spoken(_ row: ConversationRow) -> String { row.spoken(row.at > 0 ? Times.short(row.at) : "") }

    static func isSame(_ one: ConversationRow, _ other: ConversationRow) -> Bool { one.key == other.key }
}
