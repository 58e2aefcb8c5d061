import CAdwaita
import KalijApp

/// The keys of the window, and the actions of its menu.
extension MainWindow {
    func addActions() {
        add("add-account", []) { $0.showFirstStart() }
        add("shortcuts", ["<Control>question"]) { Dialogs.shortcuts(over: $0.window) }
        add("about", []) { Dialogs.about(over: $0.window) }
        add("quit", ["<Control>q"]) { $0.quit() }
        add("search", ["<Control>k", "<Control>f"]) { it in
            it.goToLists()
            it.conversations.search()
        }
        add("new", ["<Control>n"]) { $0.newConversation() }
        add("next", ["<Alt>Down"]) { $0.openNeighbour(1) }
        add("previous", ["<Alt>Up"]) { $0.openNeighbour(-1) }
        add("region", ["F6"]) { $0.nextRegion(1) }
        add("region-back", ["<Shift>F6"]) { $0.nextRegion(-1) }
    }

    func add(_ name: String, _ keys: [String], _ run: @escaping (MainWindow) -> Void) {
        guard let action = kalij_action(name) else { return }
        connect(raw(action), "activate") { [weak self] _ in if let self { run(self) } }
        g_action_map_add_action(application, action)
        g_object_unref(raw(action))
        guard !keys.isEmpty else { return }
        // The array is terminated by nil, and copied by GTK.
        var pointers: [UnsafePointer<CChar>?] = keys.map { key in g_strdup(key).map { UnsafePointer($0) } } + [nil]
        gtk_application_set_accels_for_action(cast(raw(application)), "app." + name, &pointers)
        for pointer in pointers { if let pointer { g_free(UnsafeMutableRawPointer(mutating: pointer)) } }
    }

    /// Escape goes back, from the pages and while nothing has the focus: above the pages, a notice would take the first Escape.
    func addKeys() {
        TabKey.listen(in: window, GTK_PHASE_CAPTURE) { [weak self] _ in
            self?.screen.list.aimFocus()
            self?.conversations.list.aimFocus()
            return false
        }
        for holder in [pages.root, window] {
            guard let keys = gtk_event_controller_key_new() else { return }
            connect(keys, "key-pressed") { [weak self] arguments in
                guard let self, arguments.uint(1) == UInt32(GDK_KEY_Escape) else { return arguments.answer(false) }
                goBack()
                arguments.answer(true)
            }
            gtk_widget_add_controller(holder, keys)
        }
    }

    private func goToLists() {
        if isFolded { adw_leaflet_set_visible_child(opaque(leaflet), conversations.root) }
    }

    private func openNeighbour(_ step: Int) {
        if let row = conversations.model.neighbour(of: thread?.key, step: step) { open(row) }
    }

    /// Moves the focus between the list, the messages and the composer.
    private func nextRegion(_ step: Int) {
        // An empty list cannot have the focus.
        let messages = screen.list.rows.isEmpty ? [] : [screen.list.view]
        let regions = [conversations.root] + (thread == nil ? [] : messages + [screen.composer.text])
        let now = regions.firstIndex { gtk_widget_is_ancestor(focused, $0) != 0 || focused == $0 } ?? -1
        let next = ((now + step) % regions.count + regions.count) % regions.count
        if isFolded {
            adw_leaflet_set_visible_child(opaque(leaflet), next == 0 ? conversations.root : screen.root)
        }
        switch regions[next] {
        case screen.list.view: screen.list.focusRow(or: screen.list.rows.indices.last)
        case conversations.root: focusList()
        default: regions[next].focus()
        }
    }

    func focusList() { conversations.focusList() }

    var focused: Widget { gtk_window_get_focus(cast(raw(window))) ?? window }
}
