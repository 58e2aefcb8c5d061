import CAdwaita
import KalijApp

/// The requests that await an answer. Opening the screen answers none of them.
final class RequestsScreen {
    let root = Make.box(GTK_ORIENTATION_VERTICAL)
    let list = ListView<RequestRowView>(name: Words.requests, activatesOnClick: true)
    var onBack: () -> Void = {}
    var onChosen: (RequestRow) -> Void = { _ in }
    private lazy var rows = GrowingList(list)
    private let stack = Pages()
    private let empty = Make.status("mail-unread-symbolic", Words.noRequests, "")
    private let scrolled: Widget
    private lazy var header = Make.header(title) { [weak self] in self?.onBack() }
    private let title = widget(OpaquePointer(adw_window_title_new(Words.requests, "")))

    init() {
        scrolled = Make.scrolled(list.view)
        list.view.addClass("conversations")
        list.onActivate = { [weak self] place in
            guard let self, list.rows.indices.contains(place) else { return }
            onChosen(list.rows[place])
        }
        stack.add(scrolled, "")
        stack.add(empty, Words.noRequests)
        gtk_widget_set_vexpand(stack.root, 1)
        root.append(header)
        root.append(stack.root)
    }

    func show(_ requests: [RequestRow]) {
        let isEmptied = requests.isEmpty && !list.rows.isEmpty
        stack.show(requests.isEmpty ? empty : scrolled)
        rows.show(requests)
        guard isEmptied, gtk_widget_get_mapped(root) != 0 else { return }
        // The row with the focus is gone: the way back is what is left.
        gtk_widget_child_focus(header, GTK_DIR_TAB_FORWARD)
        Announcer.say(Words.noRequests)
    }

    func focus() { list.focusRow(or: list.rows.indices.first) }
}
