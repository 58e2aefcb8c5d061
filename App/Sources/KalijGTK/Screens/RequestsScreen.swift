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
    private let empty = Make.status(.message, Words.noRequests, "")
    private let scrolled: Widget
    private lazy var back = Make.iconButton(.back, Words.back) { [weak self] in self?.onBack() }

    init() {
        scrolled = Make.scrolled(list.view)
        let header = widget(OpaquePointer(adw_header_bar_new()))
        adw_header_bar_set_title_widget(
            opaque(header), widget(OpaquePointer(adw_window_title_new(Words.requests, ""))))
        adw_header_bar_pack_start(opaque(header), back)
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
        let wasEmpty = list.rows.isEmpty
        stack.show(requests.isEmpty ? empty : scrolled)
        rows.show(requests)
        // The row with the focus is gone: the way back is what is left, and says why. A screen reader drops an announcement that another
        // one follows at once, such as the outcome of the answer.
        guard requests.isEmpty != wasEmpty else { return }
        kalij_description(back, requests.isEmpty ? Words.noRequests : "")
        if requests.isEmpty, gtk_widget_get_mapped(root) != 0 { back.focus() }
    }

    func focus() { list.focusRow(or: list.rows.indices.first) }
}
