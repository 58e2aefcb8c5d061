import CAdwaita
import KalijApp

/// A row of a list, whose widgets are created once and reused for each value.
protocol RowView: AnyObject {
    associatedtype Value: Equatable
    var root: Widget { get }
    /// The part of the row at which its menu is displayed.
    var anchor: Widget { get }
    init()
    func show(_ value: Value)
    /// The accessible name of the row.
    func spoken(_ value: Value) -> String
    /// Whether two values represent the same row, possibly in different states.
    static func isSame(_ one: Value, _ other: Value) -> Bool
}

extension RowView {
    var anchor: Widget { root }
}

/// A GtkListView of Swift values.
final class ListView<Row: RowView> {
    private(set) var rows: [Row.Value] = []
    let view: Widget
    private let model = ListModel()
    /// Whether the focus passes the empty list over.
    private var isPassedOver = false
    private let selection: OpaquePointer
    /// The rows with widgets, keyed by their list items.
    private var bound: [OpaquePointer: Row] = [:]
    /// Called when a row was clicked, or Enter was pressed in it.
    var onActivate: (Int) -> Void = { _ in }
    /// Called once for each new row, to prepare its widgets.
    var onMade: (Row) -> Void = { _ in }
    /// Called when a row was bound to widgets.
    var onBound: () -> Void = {}
    /// Called when scrolling starts, with whether to the last row.
    var onScroll: (Bool) -> Void = { _ in }
    /// Called when another row was selected.
    var onSelected: () -> Void = {}
    /// Called when scrolling has ended.
    var onSettled: () -> Void = {}
    var isCentering = false
    /// Whether rows that replace all others take over their widgets, and with them the scroll position: creating and destroying the
    /// accessible objects of rows takes longer than a layout.
    var reusesWidgets = false
    /// The positions of the rows that are laid out, nil for all: GTK measures the texts of all rows before it paints some of them.
    var laidOut: Range<Int>? {
        didSet { if laidOut == nil, oldValue != nil { refresh() } }
    }
    private var scrolling: (place: Int, frames: Int, above: Int)?

    init(name: String, activatesOnClick: Bool) {
        // GLib aborts when it runs out of memory, so the results are never nil.
        guard let selection = gtk_single_selection_new(OpaquePointer(g_object_ref(raw(model.object)))),
            let factory = gtk_signal_list_item_factory_new()
        else { fatalError("no memory for a list") }
        gtk_single_selection_set_autoselect(selection, 0)
        gtk_single_selection_set_can_unselect(selection, 1)
        self.selection = selection
        view = gtk_list_view_new(selection, factory)
        kalij_name(view, name)
        connect(factory, "setup") { [weak self] in self?.make($0.object(1), activatesOnClick) }
        connect(factory, "bind") { [weak self] in self?.bind($0.object(1)) }
        connect(factory, "teardown") { [weak self] arguments in
            if let item = arguments.object(1) { self?.bound[item] = nil }
        }
        connect(view, "activate") { [weak self] in self?.onActivate(Int($0.uint(1))) }
        connect(selection, "notify::selected") { [weak self] _ in self?.selected() }
        listenForKeys()
    }

    // MARK: Rows

    private func make(_ item: OpaquePointer?, _ activatesOnClick: Bool) {
        guard let item else { return }
        let row = Row()
        onMade(row)
        bound[item] = row
        gtk_list_item_set_child(item, row.root)
        guard activatesOnClick, let click = gtk_gesture_click_new() else { return }
        connect(click, "released") { [weak self] _ in
            // The item lives as long as the row, which owns the gesture.
            if let self, let place = validPlace(of: item) { onActivate(place) }
        }
        gtk_widget_add_controller(row.root, click)
    }

    private func bind(_ item: OpaquePointer?) {
        guard let item, let row = bound[item], let place = validPlace(of: item) else { return }
        show(place, in: row)
        onBound()
    }

    /// The positions of the rows with widgets.
    var boundPlaces: Set<Int> { Set(bound.keys.compactMap { validPlace(of: $0) }) }

    private func show(_ place: Int, in row: Row) {
        let isShown = laidOut?.contains(place) ?? true
        row.root.show(isShown)
        guard isShown else { return }
        let value = rows[place]
        row.show(value)
        // GTK 4.8 has no accessible names for rows: the name is set on the parent of the factory's child.
        if let parent = gtk_widget_get_parent(row.root) { kalij_name(parent, row.spoken(value)) }
    }

    /// Displays `new` rows with the smallest changes; a row in another state keeps its widgets, its focus and its selection.
    func show(_ new: [Row.Value]) {
        // The focus stays at a row that moves, and passes from a row that disappears to its neighbour.
        let focused = focusedPlace.map { place in
            [place, place + 1, place - 1].filter(rows.indices.contains).map { rows[$0] }
        }
        defer { if let focused { follow(focused) } }
        for change in ListChange.between(rows, and: new) {
            apply(change, from: Array(new[newPlaces(of: change, new)]))
        }
        if new.isEmpty != isPassedOver { passOver(new.isEmpty) }
    }

    /// GTK 4.8 holds the focus before a scrolled window without a focusable child.
    private func passOver(_ isEmpty: Bool) {
        isPassedOver = isEmpty
        guard let parent = gtk_widget_get_parent(view), String(cString: kalij_class(raw(parent))) == "GtkScrolledWindow"
        else { return }
        gtk_widget_set_can_focus(parent, isEmpty ? 0 : 1)
    }

    /// An item without a row has an invalid position.
    private func validPlace(of item: OpaquePointer) -> Int? {
        let place = Int(gtk_list_item_get_position(item))
        return rows.indices.contains(place) ? place : nil
    }

    private var focusedPlace: Int? {
        guard let root = gtk_widget_get_root(view), let focused = gtk_root_get_focus(root) else { return nil }
        return bound.first { gtk_widget_get_parent($0.value.root) == focused }.flatMap { validPlace(of: $0.key) }
    }

    /// Focuses the first of `candidates` that is still in the list.
    private func follow(_ candidates: [Row.Value]) {
        let places = candidates.lazy.compactMap { row in self.rows.firstIndex { Row.isSame($0, row) } }
        guard let place = places.first, place != focusedPlace else { return }
        select(place)
        focusRow(or: place)
    }

    /// The positions of a change in `new`. Changes are applied from the end, so everything after a change is final.
    private func newPlaces(of change: ListChange, _ new: [Row.Value]) -> Range<Int> {
        let behind = rows.count - (change.at + change.removed)
        let end = new.count - behind
        return (end - change.inserted)..<end
    }

    private func apply(_ change: ListChange, from new: [Row.Value]) {
        let old = Array(rows[change.at..<(change.at + change.removed)])
        var (start, end) = (0, 0)
        while start < min(old.count, new.count), Row.isSame(old[start], new[start]) { start += 1 }
        while end < min(old.count, new.count) - start, Row.isSame(old[old.count - 1 - end], new[new.count - 1 - end]) {
            end += 1
        }
        if reusesWidgets, start + end == 0, !new.isEmpty, old.count == rows.count {
            select(nil)
            start = min(old.count, new.count)
        }
        let (removed, inserted) = (old.count - start - end, new.count - start - end)
        rows.replaceSubrange(change.at..<(change.at + change.removed), with: new)
        if removed > 0 || inserted > 0 {
            isChanging = true
            model.changed(at: change.at + start, removed: removed, inserted: inserted)
            isChanging = false
        }
        guard start + end > 0 else { return }
        let updated = Set(change.at..<(change.at + start)).union(
            (change.at + new.count - end)..<(change.at + new.count))
        for (item, row) in bound {
            if let place = validPlace(of: item), updated.contains(place) { show(place, in: row) }
        }
    }

    /// Updates the visible rows, for example after a change of the date.
    func refresh() {
        for item in bound.keys { bind(item) }
    }

    // MARK: Selection and focus

    var selectedPlace: Int? {
        let place = gtk_single_selection_get_selected(selection)
        return place < UInt32(rows.count) ? Int(place) : nil
    }

    func select(_ place: Int?) {
        let wanted = place.map(UInt32.init) ?? GTK_INVALID_LIST_POSITION
        if gtk_single_selection_get_selected(selection) != wanted {
            isSelecting = true
            gtk_single_selection_set_selected(selection, wanted)
            isSelecting = false
        }
    }

    private var isSelecting = false
    private var isChanging = false

    /// A row that a screen reader selects also receives the next key, wherever the focus is. Rows inserted before the selected
    /// one change its position: scrolling there would move the visible text.
    private func selected() {
        onSelected()
        guard !isChanging, let place = selectedPlace else { return }
        let isOutside = !isSelecting && !hasFocus
        // Scrolling in progress would move away from the row.
        if isOutside || isScrolling && !isSelecting {
            scroll(to: place)
        } else {
            scrollToItem(place)
        }
        if isOutside { after(0) { [weak self] in self?.focusRow(or: place) } }
    }

    var hasFocus: Bool {
        guard let root = gtk_widget_get_root(view), let focused = gtk_root_get_focus(root) else { return false }
        return gtk_widget_is_ancestor(focused, view) != 0
    }

    private func listenForKeys() {
        guard let keys = gtk_event_controller_key_new() else { return }
        gtk_event_controller_set_propagation_phase(keys, GTK_PHASE_CAPTURE)
        connect(keys, "key-pressed") { [weak self] arguments in
            arguments.answer(self?.handled(arguments.uint(1), arguments.flags(3)) ?? false)
        }
        gtk_widget_add_controller(view, keys)
    }

    private func handled(_ key: UInt32, _ modifiers: Int32) -> Bool {
        let held = modifiers & Int32(gtk_accelerator_get_default_mod_mask().rawValue)
        switch key {
        case UInt32(GDK_KEY_Return), UInt32(GDK_KEY_KP_Enter):
            guard let place = selectedPlace else { return false }
            onActivate(place)
            return true
        case UInt32(GDK_KEY_Tab) where held == 0: return leave(GTK_DIR_TAB_FORWARD)
        case UInt32(GDK_KEY_ISO_Left_Tab) where held == Int32(GDK_SHIFT_MASK.rawValue):
            return leave(GTK_DIR_TAB_BACKWARD)
        default: return false
        }
    }

    /// Passes the focus within the row, then to what precedes or follows the list: GTK 4.8 would pass it through all rows, which the arrows
    /// do.
    private func leave(_ direction: GtkDirectionType) -> Bool {
        guard let root = gtk_widget_get_root(view) else { return false }
        if let row = gtk_widget_get_focus_child(view), gtk_widget_child_focus(row, direction) != 0 { return true }
        gtk_widget_set_can_focus(view, 0)
        defer { gtk_widget_set_can_focus(view, 1) }
        return gtk_widget_child_focus(widget(root), direction) != 0
    }

    /// Focuses the selected row, or `other`: GTK 4.8 would focus the first one.
    func focusRow(or other: Int?) {
        guard let place = selectedPlace ?? other, rows.indices.contains(place) else {
            view.focus()
            return
        }
        select(place)
        scrollToItem(place)
        if focusBound(place) { return }
        // The row has no widgets before the layout of the list.
        var frames = 10
        everyFrame(of: view) { [weak self] in
            frames -= 1
            guard let self, frames > 0 else { return false }
            return !focusBound(place)
        }
    }

    /// The widgets of the row at `place`; nil if it has none.
    func boundRow(at place: Int) -> Row? {
        bound.first { Int(gtk_list_item_get_position($0.key)) == place }?.value
    }

    /// - Returns: false if the row has no widgets.
    func focusBound(_ place: Int) -> Bool {
        guard let row = boundRow(at: place)?.root, let parent = gtk_widget_get_parent(row),
            gtk_widget_get_mapped(parent) != 0
        else {
            return false
        }
        return gtk_widget_grab_focus(parent) != 0
    }

    func scrollToItem(_ place: Int) {
        // The action does not sink a floating reference.
        guard let item = kalij_uint_variant(UInt32(place)).map({ g_variant_ref_sink($0) }) else { return }
        gtk_widget_activate_action_variant(view, "list.scroll-to-item", item)
        g_variant_unref(item)
    }

    /// Scrolls to a row, in the next frames: a list is never scrolled during its layout.
    /// - Parameter atTop: whether the row is to be the first visible one. GTK places a row at the side from which it scrolls, so
    ///   it first scrolls to the end.
    func scroll(to place: Int, atTop: Bool = false, frames: Int = 3) {
        let isScrolling = scrolling != nil
        scrolling = (place, atTop ? 2 * frames : frames, frames)
        onScroll(place >= rows.count - 1)
        guard !isScrolling else { return }
        everyFrame(of: view) { [weak self] in
            guard let self, let (place, frames, above) = scrolling else { return false }
            scrolling = frames > 1 ? (place, frames - 1, above) : nil
            guard place < rows.count else { return scrolling != nil }
            let next = frames > above ? rows.count - 1 : max(0, place)
            scrollToItem(next)
            if scrolling == nil { after(0) { [weak self] in self?.onSettled() } }
            return scrolling != nil
        }
    }

    var isScrolling: Bool { scrolling != nil || isCentering }
    /// Whether the list is scrolling to the last row; nil if it is not scrolling.
    var isScrollingToEnd: Bool? { isCentering ? false : scrolling.map { $0.place >= rows.count - 1 } }

    /// The row at the given height of the view.
    func place(atHeight y: Double) -> Int? { place(at: Double(gtk_widget_get_width(view)) / 2, y) }

    /// The row at the given point of the view.
    func place(at x: Double, _ y: Double) -> Int? {
        var found = gtk_widget_pick(view, x, y, GTK_PICK_DEFAULT)
        while let widget = found, let parent = gtk_widget_get_parent(widget) {
            if parent == view {
                let child = gtk_widget_get_first_child(widget)
                return bound.first { $0.value.root == child }.flatMap { validPlace(of: $0.key) }
            }
            found = parent
        }
        return nil
    }
}
