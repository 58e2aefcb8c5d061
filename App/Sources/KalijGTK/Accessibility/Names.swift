import CAdwaita
import KalijApp

/// Names for a screen reader, where GTK 4.8 would say a class.
enum Names {
    /// Containers and ornaments: nobody needs a name for them.
    private static let ornaments: Set = [
        "AdwGizmo", "AdwLeaflet", "AdwWindowTitle", "GtkRange", "GtkScrollbar", "GtkOverlay", "GtkImage",
        "AdwToastOverlay", "GtkRevealer", "AdwClamp", "GtkStack", "AdwSqueezer",
    ]

    /// Names the buttons with a picture and no words below `widget`.
    static func nameButtons(in widget: Widget, _ words: String) {
        if String(cString: kalij_class(raw(widget))) == "GtkButton" { return kalij_name(widget, words) }
        var child = gtk_widget_get_first_child(widget)
        while let next = child {
            nameButtons(in: next, words)
            child = gtk_widget_get_next_sibling(next)
        }
    }

    /// A button is not called by both its own name and what is inside: "Cancel Cancel", "GtkImage Search".
    private static func nameOnce(_ button: Widget) {
        gtk_accessible_reset_relation(opaque(button), GTK_ACCESSIBLE_RELATION_LABELLED_BY)
        guard let label = gtk_button_get_label(cast(raw(button))) else { return }
        kalij_name(button, String(cString: label).filter { $0 != "_" })
    }

    /// Names everything below `widget` that would be called by its class.
    static func fill(_ widget: Widget) {
        let name = String(cString: kalij_class(raw(widget)))
        // The name of a button has its picture's name in it.
        guard name != "GtkButton" else { return nameOnce(widget) }
        if ornaments.contains(name) { kalij_name(widget, "") }
        if name == "GtkListBox" { kalij_name(widget, Words.theAccount) }
        // Keys scroll what is inside.
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

/// A stack whose hidden pages are hidden from a screen reader, too.
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
