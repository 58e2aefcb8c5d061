import CAdwaita
import KalijApp

/// A row of the members of a group: name, address, affiliation and presence in words.
final class MemberRowView: RowView {
    let root: Widget
    private let avatar = Make.avatar(32)
    private let name = Make.silentLabel(classes: "conversation-name")
    private let address = Make.silentLabel(classes: "dim-label", "caption")
    private var picture: String?
    private let state = Make.silentLabel(classes: "dim-label", "caption")

    init() {
        for label in [name, address, state] { Make.fit(label) }
        let texts = Make.vertical(name, address, state, spacing: 2)
        gtk_widget_set_valign(texts, GTK_ALIGN_CENTER)
        root = Make.horizontal(avatar, texts, spacing: 10)
        root.addClass("conversation")
    }

    func show(_ member: MemberRow) {
        Make.show(member.name, member.jid ?? member.name, in: avatar)
        if member.picture != picture {
            picture = member.picture
            Make.show(member.picture, in: avatar)
        }
        name.setText(member.title)
        address.setText(member.subtitle)
        address.show(!member.subtitle.isEmpty && member.subtitle != member.title)
        state.setText(member.state)
    }

    func spoken(_ member: MemberRow) -> String { member.spoken }
    static func isSame(_ one: MemberRow, _ other: MemberRow) -> Bool { one.id == other.id }
}

extension Make {
    /// Truncates a label instead of widening its row.
    static func fit(_ label: Widget) {
        gtk_label_set_ellipsize(opaque(label), PANGO_ELLIPSIZE_END)
        gtk_label_set_max_width_chars(opaque(label), 8)
        gtk_widget_set_hexpand(label, 1)
    }
}
