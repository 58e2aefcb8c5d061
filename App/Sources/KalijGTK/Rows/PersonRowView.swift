import CAdwaita
import KalijApp

/// A row of the people to write to: picture, name and address.
final class PersonRowView: RowView {
    let root: Widget
    private let avatar = Make.avatar(32)
    private let name = Make.silentLabel(classes: "conversation-name")
    private let line = Make.silentLabel(classes: "dim-label", "caption")
    private var picture: String?

    init() {
        for label in [name, line] { Make.fit(label) }
        let texts = Make.vertical(name, line, spacing: 2)
        gtk_widget_set_valign(texts, GTK_ALIGN_CENTER)
        root = Make.horizontal(avatar, texts, spacing: 10)
        root.addClass("conversation")
    }

    func show(_ person: PersonRow) {
        Make.show(person.name, person.key.jid, in: avatar)
        if person.picture != picture {
            picture = person.picture
            Make.show(person.picture, in: avatar)
        }
        name.setText(person.title)
        line.setText(person.line)
        line.show(!person.line.isEmpty)
    }

    func spoken(_ person: PersonRow) -> String { person.spoken }
    static func isSame(_ one: PersonRow, _ other: PersonRow) -> Bool {
        one.key == other.key && one.isEntered == other.isEntered
    }
}
