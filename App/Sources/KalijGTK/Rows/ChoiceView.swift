import CAdwaita
import KalijApp

/// A choice of one of several values, all of which are visible.
final class ChoiceView {
    let root = widget(OpaquePointer(kalij_new_with_role(kalij_type_box(), GTK_ACCESSIBLE_ROLE_RADIO_GROUP)))
    /// Called with the place of a value that the user has chosen.
    var onChosen: (Int) -> Void = { _ in }
    private let caption: Widget
    private var buttons: [Widget] = []
    private var isUpdating = false

    /// - Parameters:
    ///   - choices: the values in words.
    ///   - hint: the explanation.
    ///   - isSection: whether the choice is a section of its own.
    init(_ label: String, _ choices: [String], hint: String, isSection: Bool = false) {
        caption = Make.label(classes: isSection ? "heading" : "caption-heading")
        gtk_orientable_set_orientation(opaque(root), GTK_ORIENTATION_VERTICAL)
        gtk_box_set_spacing(cast(raw(root)), 4)
        kalij_name(root, label)
        kalij_description(root, hint)
        caption.explain(label)
        let explanation = Make.label(hint, classes: "dim-label")
        for part in [caption, explanation] { part.wrapText() }
        root.append(caption)
        for (place, choice) in choices.enumerated() { append(choice, at: place) }
        root.append(explanation)
    }

    private func append(_ choice: String, at place: Int) {
        let button = Make.check(choice, isRadio: true)
        gtk_check_button_set_group(cast(raw(button)), buttons.first.map { cast(raw($0)) })
        kalij_described_by(button, caption)
        connect(button, "toggled") { [weak self] _ in
            guard let self, !isUpdating, gtk_check_button_get_active(cast(raw(button))) != 0 else { return }
            onChosen(place)
        }
        buttons.append(button)
        root.append(button)
    }

    /// Displays the value at `place` as the chosen one.
    func show(_ place: Int?) {
        guard let place, buttons.indices.contains(place) else { return }
        isUpdating = true
        gtk_check_button_set_active(cast(raw(buttons[place])), 1)
        isUpdating = false
    }
}
