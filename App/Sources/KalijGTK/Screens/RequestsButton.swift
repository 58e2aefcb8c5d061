import CAdwaita
import KalijApp

/// The button above the list of conversations that opens the requests; hidden without any.
final class RequestsButton {
    let root = widget(OpaquePointer(gtk_button_new_with_label("")))
    var onOpen: () -> Void = {}
    private var count = 0
    /// Thousands of requests are spoken as few numbers.
    private let speech = Throttle(interval: 10_000)

    init() {
        root.addClass("requests")
        root.show(false)
        connect(root, "clicked") { [weak self] _ in self?.onOpen() }
    }

    func show(_ count: Int) {
        guard count != self.count else { return }
        let isNew = count > self.count
        self.count = count
        root.show(count > 0)
        gtk_button_set_label(cast(raw(root)), Words.requests(count))
        kalij_name(root, Words.requests(count))
        if isNew { speech.run { [weak self] in self.map { Announcer.say(Words.requests($0.count)) } } }
    }
}
