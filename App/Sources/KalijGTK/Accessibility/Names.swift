import CAdwaita
import KalijApp

/// Accessible names for widgets that GTK 4.8 would name by their class.
enum Names {
    /// Containers and decorations, which need no name.
    private static let ornaments: Set = [
        "AdwGizmo", "AdwLeaflet", "AdwWindowTitle", "GtkRange", "GtkScrollbar", "GtkOverlay", "GtkImage",
        "AdwToastOverlay", "GtkRevealer", "AdwClamp", "GtkStack", "AdwSqueezer",
    ]

    /// Names the buttons below `widget` that have an icon and no label.
    static func nameButtons(in widget: Widget, _ words: String) {
        if String(cString: kalij_class(raw(widget))) == "GtkButton" { return kalij_name(widget, words) }
        var child = gtk_widget_get_first_child(widget)
        while let next = child {
            nameButtons(in: next, words)
            child = gtk_widget_get_next_sibling(next)
        }
    }

    /// Removes the label relation, which would repeat the name of a button: "Cancel Cancel", "GtkImage Search".
    private static func nameOnce(_ button: Widget) {
        gtk_accessible_reset_relation(opaque(button), GTK_ACCESSIBLE_RELATION_LABELLED_BY)
        guard let label = gtk_button_get_label(cast(raw(button))) else { return }
        kalij_name(button, String(cString: label).filter { $0 != "_" })
    }

    /// Names all widgets below `widget` that would be named by their class.
    static func fill(_ widget: Widget) {
        let name = String(cString: kalij_class(raw(widget)))
        // The name of a button includes that of its icon.
        guard name != "GtkButton" else { return nameOnce(widget) }
        if ornaments.contains(name) { kalij_name(widget, "") }
        if name == "GtkListBox" { kalij_name(widget, Words.theAccount) }
        // The child handles the keys that scroll.
        if name == "GtkScrolledWindow" { gtk_widget_set_focusable(widget, 0) }
        if name == "GtkLabel", let text = gtk_label_get_text(opaque(widget)), text.pointee == 0 {
            kalij_name(widget, "")
        }
        var child = gtk_widget_get_first_child(widget)
        while let next = child {
            fill(next)
            child = gtk_widget_get_next_sibling(next)
        }
    }
}

/// A stack whose hidden pages are also hidden from screen readers.
final class Pages {
    let root = widget(OpaquePointer(gtk_stack_new()))
    private var pages: [Widget] = []

    func add(_ page: Widget, _ name: String) {
        pages.append(page)
        if let added = gtk_stack_add_child(opaque(root), page) { gtk_stack_page_set_title(added, name) }
        page.show(pages.count == 1)
    }

    func show(_ page: Widget) {
        page.show(true)
        gtk_stack_set_visible_child(opaque(root), page)
        for other in pages where other != page { other.show(false) }
    }
}
