import CAdwaita
import KalijApp

/// The reactions to a message. Screen readers skip them, because they are part of the row's name; the row's menu has their actions.
final class ReactionChips {
    /// Called when a chip was clicked.
    var onPressed: (String) -> Void = { _ in }
    private let box = widget(
        OpaquePointer(kalij_new_with_role(kalij_type_flow_box(), GTK_ACCESSIBLE_ROLE_PRESENTATION)))
    private var shown: [ReactionCount] = []

    init(after sibling: Widget, in parent: Widget) {
        gtk_flow_box_set_selection_mode(opaque(box), GTK_SELECTION_NONE)
        gtk_flow_box_set_min_children_per_line(opaque(box), 1)
        gtk_flow_box_set_max_children_per_line(opaque(box), 6)
        gtk_flow_box_set_column_spacing(opaque(box), 4)
        gtk_flow_box_set_row_spacing(opaque(box), 4)
        gtk_widget_set_halign(box, GTK_ALIGN_START)
        // GTK 4.8 holds the focus before a flow box without a focusable child.
        gtk_widget_set_can_focus(box, 0)
        box.addClass("chips")
        gtk_box_insert_child_after(cast(raw(parent)), box, sibling)
    }

    func show(_ reactions: [ReactionCount]) {
        box.show(!reactions.isEmpty)
        guard reactions != shown else { return }
        shown = reactions
        while let child = gtk_widget_get_first_child(box) { gtk_flow_box_remove(opaque(box), child) }
        for reaction in reactions { gtk_flow_box_append(opaque(box), chip(reaction)) }
    }

    private func chip(_ reaction: ReactionCount) -> Widget {
        let chip = widget(
            OpaquePointer(kalij_new_with_role(kalij_type_flow_box_child(), GTK_ACCESSIBLE_ROLE_PRESENTATION)))
        let label = Make.silentLabel(classes: "caption")
        label.setText(reaction.label)
        gtk_flow_box_child_set_child(cast(raw(chip)), label)
        gtk_widget_set_focusable(chip, 0)
        gtk_widget_set_tooltip_text(chip, reaction.words)
        chip.setClass("own", reaction.isOwn)
        guard let click = gtk_gesture_click_new() else { return chip }
        // A second press within the time of a double click is none: it would undo the first.
        connect(click, "released") { [weak self] arguments in
            if arguments.int(1) == 1 { self?.onPressed(reaction.emoji) }
        }
        gtk_widget_add_controller(chip, click)
        return chip
    }
}
