import CAdwaita

/// Names the emoji of a GtkEmojiChooser, which adds them while it is displayed.
enum EmojiNames {
    static func follow(_ widget: Widget) {
        guard String(cString: kalij_class(raw(widget))) != "GtkFlowBox" else { return follow(box: widget) }
        var child = gtk_widget_get_first_child(widget)
        while let next = child {
            follow(next)
            child = gtk_widget_get_next_sibling(next)
        }
    }

    private static func follow(box: Widget) {
        guard let children = gtk_widget_observe_children(box) else { return }
        name(children, 0..<g_list_model_get_n_items(children))
        connect(children, "items-changed") { arguments in
            name(children, arguments.uint(1)..<(arguments.uint(1) &+ arguments.uint(3)))
        }
        connect(box, "destroy") { _ in g_object_unref(raw(children)) }
    }

    private static func name(_ children: OpaquePointer, _ places: Range<UInt32>) {
        for place in places {
            guard let child = g_list_model_get_item(children, place) else { continue }
            defer { g_object_unref(child) }
            guard let text = text(of: cast(child)) else {
                // The cell of a section's button, which has the name.
                gtk_widget_set_focusable(cast(child), 0)
                kalij_name(cast(child), "")
                continue
            }
            kalij_name(cast(child), text)
        }
    }

    /// The text of the first label below `widget`.
    private static func text(of widget: Widget) -> UnsafePointer<CChar>? {
        if String(cString: kalij_class(raw(widget))) == "GtkLabel" { return gtk_label_get_text(opaque(widget)) }
        var child = gtk_widget_get_first_child(widget)
        while let next = child {
            if let text = text(of: next) { return text }
            child = gtk_widget_get_next_sibling(next)
        }
        return nil
    }
}
