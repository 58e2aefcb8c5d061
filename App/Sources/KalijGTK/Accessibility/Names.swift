import CAdwaita
import KalijApp

/// Accessible names for widgets that GTK 4.8 would name by their class.
enum Names {
    /// Containers and decorations, which need no name.
    private static let ornaments: Set = [
        "AdwBin", "AdwGizmo", "AdwLeaflet", "AdwWindowTitle", "GtkFlowBox", "GtkRange", "GtkScrollbar", "GtkOverlay",
        "GtkImage", "GtkBuiltinIcon",
        "AdwToastOverlay", "AdwToastWidget", "GtkPopoverContent", "GtkRevealer", "AdwClamp", "GtkStack", "AdwSqueezer",
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
    /// A button that has an icon alone is named by its tooltip.
    /// - Parameter icon: the name of a button without a tooltip; nil to keep its name.
    private static func nameOnce(_ button: Widget, _ icon: String?) {
        gtk_accessible_reset_relation(opaque(button), GTK_ACCESSIBLE_RELATION_LABELLED_BY)
        guard let label = gtk_button_get_label(cast(raw(button))) else {
            let tooltip = gtk_widget_get_tooltip_text(button).map { String(cString: $0) }
            if let name = tooltip ?? icon { kalij_name(button, name) }
            return
        }
        kalij_name(button, String(cString: label).filter { $0 != "_" })
    }

    private static func namePages(of stack: Widget) {
        var child = gtk_widget_get_first_child(stack)
        while let next = child {
            if let page = gtk_stack_get_page(opaque(stack), next), gtk_stack_page_get_title(page) == nil {
                gtk_stack_page_set_title(page, "")
            }
            child = gtk_widget_get_next_sibling(next)
        }
    }

    /// Names the toasts of an overlay, which creates their widgets when they are displayed.
    static func follow(toasts overlay: Widget) {
        guard let children = gtk_widget_observe_children(overlay) else { return }
        connect(children, "items-changed") { _ in
            var child = gtk_widget_get_first_child(overlay)
            while let next = child {
                if String(cString: kalij_class(raw(next))) == "AdwToastWidget" { fill(next, icons: Words.close) }
                child = gtk_widget_get_next_sibling(next)
            }
        }
    }

    /// Names all widgets below `widget` that would be named by their class.
    /// - Parameter icons: the name of the buttons that have an icon alone.
    static func fill(_ widget: Widget, icons: String? = nil) {
        let name = String(cString: kalij_class(raw(widget)))
        // The name of a button includes that of its icon.
        guard name != "GtkButton" else { return nameOnce(widget, icons) }
        if ornaments.contains(name) { kalij_name(widget, "") }
        if name == "GtkListBox" { kalij_name(widget, Words.theAccount) }
        if name == "GtkStack" { namePages(of: widget) }
        if name == "GtkSearchEntry" { kalij_name(widget, Words.search) }
        // The child handles the keys that scroll.
        if name == "GtkScrolledWindow" { gtk_widget_set_focusable(widget, 0) }
        if name == "GtkLabel", let text = gtk_label_get_text(opaque(widget)), text.pointee == 0 {
            kalij_name(widget, "")
        }
        var child = gtk_widget_get_first_child(widget)
        while let next = child {
            fill(next, icons: icons)
            child = gtk_widget_get_next_sibling(next)
        }
    }
}

/// A stack whose hidden pages are also hidden from screen readers.
final class Pages {
    let root = widget(OpaquePointer(gtk_stack_new()))
    private var pages: [Widget] = []

    /// - Parameter name: its accessible name; empty for a page whose content has a name.
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
