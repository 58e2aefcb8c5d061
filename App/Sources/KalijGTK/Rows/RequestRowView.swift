import CAdwaita
import KalijApp

/// A row of the requests: who requests what, with the addresses, the text and the time.
final class RequestRowView: RowView {
    let root: Widget
    private let avatar = Make.avatar(40)
    private let question = Make.silentLabel(classes: "conversation-name")
    private let details = Make.silentLabel(classes: "dim-label", "caption")
    private let text = Make.silentLabel()
    private let time = Make.silentLabel(classes: "dim-label", "caption")
    private var picture: String?

    init() {
        // Wrapped labels in nested boxes take seconds for a thousand rows.
        for label in [question, details, text] { Make.fit(label) }
        let texts = Make.vertical(
            Make.horizontal(question, time, spacing: 6), details, text, spacing: 3)
        gtk_widget_set_hexpand(texts, 1)
        root = Make.horizontal(avatar, texts, spacing: 10)
        root.addClass("conversation")
    }

    func show(_ request: RequestRow) {
        Make.show(request.name, request.address ?? request.key.jid, in: avatar)
        if request.picture != picture {
            picture = request.picture
            Make.show(request.picture, in: avatar)
        }
        question.setText(request.question)
        details.setText(request.details)
        text.setText(request.text)
        text.show(!request.text.isEmpty)
        time.setText(Times.short(request.at))
    }

    func spoken(_ request: RequestRow) -> String { request.spoken(Times.short(request.at)) }
    static func isSame(_ one: RequestRow, _ other: RequestRow) -> Bool {
        one.kind == other.kind && one.key == other.key
    }
}

extension Make {
    /// Displays a verified picture in an avatar, or none.
    static func show(_ picture: String?, in avatar: Widget) {
        guard let picture, let texture = gdk_texture_new_from_filename(picture, nil) else {
            return adw_avatar_set_custom_image(opaque(avatar), nil)
        }
        adw_avatar_set_custom_image(opaque(avatar), texture)
        g_object_unref(raw(texture))
    }
}
