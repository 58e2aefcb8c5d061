import CAdwaita
import KalijApp
import KalijClient

/// The list of the conversations of all accounts.
final class ConversationsScreen {
    let root: Widget
    let list = ListView<ConversationRowView>(name: Words.conversations, activatesOnClick: true)
    let banner = StateBannerView()
    let requests = RequestsButton()
    /// Called for an action on a group whose creation has failed.
    var onCreation: (ConversationRow.CreationAction, CreationState, ConversationKey) -> Void = { _, _, _ in }
    var onOpen: (ConversationRow) -> Void = { _ in }
    var onNew: () -> Void = {}
    var onAction: (ConversationAction, ConversationRow) -> Void = { _, _ in }
    private(set) var model = ConversationList()
    private var openKey: ConversationKey?
    private let stack = Pages()
    private let searchBar = widget(OpaquePointer(gtk_search_bar_new()))
    private let searchEntry = widget(OpaquePointer(gtk_search_entry_new()))
    private let empty = Make.status(.message, Words.noConversations, Words.noConversationsHint)
    private let nothing = Make.status(.nothingFound, Words.nothingFound, "")
    private let scrolled: Widget
    private lazy var newConversation = Make.iconButton(.add, Words.newConversation) { [weak self] in
        self?.onNew()
    }
    private let header = widget(OpaquePointer(adw_header_bar_new()))
    /// Called when visible rows are not read yet.
    var onWanted: ([ConversationKey]) -> Void = { _ in }
    private var isAsking = false
    /// Called when results of a search are needed: with the words, and where they begin.
    var onSearch: (String, SearchKey?) -> Void = { _, _ in }

    init() {
        root = Make.box(GTK_ORIENTATION_VERTICAL)
        scrolled = Make.scrolled(list.view)
        list.view.addClass("conversations")
        list.onActivate = { [weak self] place in self?.activate(place) }
        list.onBound = { [weak self] in self?.ask() }
        build()
    }

    private func build() {
        adw_header_bar_set_title_widget(opaque(header), widget(OpaquePointer(adw_window_title_new("Kalij", ""))))
        adw_header_bar_pack_start(opaque(header), newConversation)
        let menu = Make.menuButton([
            (Words.settings, "settings"), (Words.addAccount, "add-account"), (Words.ownDevices, "own-devices"),
            (Words.marks, "marks"), (Words.background, "background"), (Words.shortcuts, "shortcuts"),
            (Words.about, "about"), (Words.quit, "quit"),
        ])
        adw_header_bar_pack_end(opaque(header), menu)
        adw_header_bar_pack_end(
            opaque(header), Make.iconButton(.search, Words.search) { [weak self] in self?.search() })
        kalij_name(searchEntry, Words.search)
        gtk_widget_set_hexpand(searchEntry, 1)
        gtk_search_bar_set_child(opaque(searchBar), searchEntry)
        gtk_search_bar_connect_entry(opaque(searchBar), OpaquePointer(searchEntry))
        connect(searchEntry, "search-changed") { [weak self] _ in self?.searched() }
        connect(searchEntry, "activate") { [weak self] _ in self?.activate(0) }
        connect(searchEntry, "stop-search") { [weak self] _ in self?.endSearch() }
        gtk_widget_set_vexpand(stack.root, 1)
        stack.add(scrolled, "")
        stack.add(empty, Words.noConversations)
        stack.add(nothing, Words.nothingFound)
        if let adjustment = gtk_scrolled_window_get_vadjustment(opaque(scrolled)) {
            connect(raw(adjustment), "value-changed") { [weak self] _ in self?.growNearEnd() }
            connect(raw(adjustment), "changed") { [weak self] _ in self?.growNearEnd() }
        }
        for part in [header, banner.root, requests.root, searchBar, stack.root] { root.append(part) }
        searchBar.show(false)
        gtk_widget_set_size_request(root, 300, -1)
        gtk_widget_set_hexpand(root, 0)
    }

    /// Shows the window's close button if the list is the only pane.
    func showWindowButtons(_ isAlone: Bool) {
        adw_header_bar_set_show_end_title_buttons(opaque(header), isAlone ? 1 : 0)
    }

    // MARK: Rows

    func begin(_ list: ConversationList) {
        model = list
        show()
    }

    /// All conversations were read without their content.
    /// - Returns: those to read completely before the list is updated.
    func read(heads: [ConversationRow]) -> [ConversationKey] {
        model.read(heads: heads)
        return model.wanted(list.boundPlaces.isEmpty ? Set(0..<ConversationList.begin) : list.boundPlaces)
    }

    /// Some conversations were read.
    func read(_ rows: [ConversationRow]) {
        model.read(rows)
        show()
    }

    private func show() {
        stack.show(!model.shown.isEmpty ? scrolled : model.search.isEmpty ? empty : nothing)
        list.show(model.shown)
        // While the user is in the list, a change of a row would take the selection, and what the next key acts on; a screen reader says a
        // row that is selected in a list that is not shown.
        if !list.hasFocus && gtk_widget_get_mapped(list.view) != 0 { selectOpen() }
    }

    /// Rows are bound individually, and read together.
    private func ask() {
        guard !isAsking else { return }
        isAsking = true
        after(0) { [weak self] in
            guard let self else { return }
            isAsking = false
            let keys = model.wanted(list.boundPlaces)
            if !keys.isEmpty { onWanted(keys) }
        }
    }

    /// Extends the list before its end is visible.
    private func growNearEnd() {
        guard let adjustment = gtk_scrolled_window_get_vadjustment(opaque(scrolled)) else { return }
        let end = gtk_adjustment_get_value(adjustment) + 2 * gtk_adjustment_get_page_size(adjustment)
        guard end >= gtk_adjustment_get_upper(adjustment) else { return }
        // Not during the layout of the list.
        after(0) { [weak self] in
            guard let self else { return }
            if model.grow() { show() } else if let next = model.nextResults { onSearch(model.search, next) }
        }
    }

    /// Sets the open conversation.
    func open(_ key: ConversationKey?) {
        openKey = key
        if let key { model.include(key) }
        show()
        selectOpen()
    }

    private func selectOpen() {
        guard let openKey, let place = list.rows.firstIndex(where: { $0.key == openKey && $0.found == nil })
        else { return }
        // The selection stays in the results.
        if !isSearching { list.select(place) }
    }

    private func activate(_ place: Int) {
        guard list.rows.indices.contains(place) else { return }
        let row = list.rows[place]
        guard row.creation == nil else { return showMenu(ofCreation: place) }
        // The other messages found stay beside the conversation.
        if row.found == nil { endSearch() }
        onOpen(row)
    }

    /// The date has changed.
    func refresh() { list.refresh() }

    /// Focuses the selected row, or the first one; in an empty list, the button for a new conversation.
    func focusList() {
        if list.rows.isEmpty { newConversation.focus() } else { list.focusRow(or: 0) }
    }

    // MARK: Search

    func search() {
        searchBar.show(true)
        gtk_search_bar_set_search_mode(opaque(searchBar), 1)
        searchEntry.focus()
        repeatFocus()
    }

    /// Screen readers are not notified of the focus of an entry that is not visible yet.
    private func repeatFocus() {
        var frames = Self.framesToSearch
        everyFrame(of: root) { [weak self] in
            frames -= 1
            guard frames == 0 else { return true }
            guard let self, isSearching, model.search.isEmpty, let window = gtk_widget_get_root(root),
                let focused = gtk_root_get_focus(window), gtk_widget_is_ancestor(focused, searchEntry) != 0
            else { return false }
            gtk_root_set_focus(window, nil)
            searchEntry.focus()
            return false
        }
    }

    private static let framesToSearch = 6

    var isSearching: Bool { gtk_search_bar_get_search_mode(opaque(searchBar)) != 0 }

    /// Whether the focus is in the list, or in the words of the search.
    var hasFocus: Bool {
        guard let window = gtk_widget_get_root(root), let focused = gtk_root_get_focus(window) else { return false }
        return gtk_widget_is_ancestor(focused, root) != 0
    }

    func endSearch() {
        guard isSearching else { return }
        gtk_search_bar_set_search_mode(opaque(searchBar), 0)
        searchBar.show(false)
        model.search = ""
        show()
    }

    private func searched() {
        model.search = gtk_editable_get_text(OpaquePointer(searchEntry)).map { String(cString: $0) } ?? ""
        show()
        if !model.search.isEmpty { onSearch(model.search, nil) }
    }

    /// Messages were found.
    func read(_ results: SearchResults, for words: String, from place: SearchKey?) {
        guard model.read(results, for: words, from: place) else { return }
        show()
        if place == nil { Announcer.say(Words.results(model.found.count + results.rows.count)) }
    }
}
