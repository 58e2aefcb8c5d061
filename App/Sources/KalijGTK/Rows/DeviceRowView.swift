import CAdwaita
import KalijApp

/// A row of a list of devices: the device, its state in words, the last message, and the key in groups of eight digits.
final class DeviceRowView: RowView {
    let root: Widget
    private let name = Make.silentLabel(classes: "conversation-name")
    private let state = Make.silentLabel(classes: "caption")
    private let time = Make.silentLabel(classes: "dim-label", "caption")
    private let digits = Make.silentLabel(classes: "key-digits")

    init() {
        Make.fit(name)
        for label in [state, digits] {
            label.wrapText()
            gtk_label_set_max_width_chars(opaque(label), 36)
        }
        root = Make.vertical(Make.horizontal(name, time, spacing: 6), state, digits, spacing: 2)
        root.addClass("conversation")
    }

    func show(_ device: DeviceRow) {
        name.setText(device.title)
        state.setText(device.words)
        state.show(!device.words.isEmpty)
        time.setText(device.lastMessageAt.map(Times.short) ?? "")
        digits.setText(device.digits)
    }

    func spoken(_ device: DeviceRow) -> String { device.spoken(device.lastMessageAt.map(Times.short) ?? "") }
    static func isSame(_ one: DeviceRow, _ other: DeviceRow) -> Bool { one.id == other.id }
}
