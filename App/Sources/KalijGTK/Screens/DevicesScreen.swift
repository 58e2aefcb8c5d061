import CAdwaita
import KalijApp

/// The devices of a contact, or of the account: their keys, how far they are trusted, and the codes to compare them by.
final class DevicesScreen {
    let root = Make.box(GTK_ORIENTATION_VERTICAL)
    let list = ListView<DeviceRowView>(name: Words.devices, activatesOnClick: true)
    var onBack: () -> Void = {}
    var onDevice: (DeviceAction, DeviceRow, DevicesPage) -> Void = { _, _, _ in }
    var onShowCode: (DevicesPage) -> Void = { _ in }
    var onReadCode: (DevicesPage) -> Void = { _ in }
    var onMarks: () -> Void = {}
    private(set) var page: DevicesPage?
    private let title = widget(OpaquePointer(adw_window_title_new("", "")))
    private let notice = Make.label()
    private let buttons = Make.box(GTK_ORIENTATION_HORIZONTAL, spacing: 8)

    init() {
        build()
        list.onActivate = { [weak self] place in self?.showMenu(of: place) }
        list.listenForMenu(over: root) { [weak self] place, at in self?.showMenu(of: place, at: at) }
    }

    private func build() {
        let header = Make.header(title) { [weak self] in self?.onBack() }
        adw_header_bar_pack_end(
            opaque(header), Make.iconButton(.explanation, Words.marks) { [weak self] in self?.onMarks() })
        notice.wrapText()
        for button in [
            Make.button(Words.verifyByCode) { [weak self] in if let self, let page { onReadCode(page) } },
            Make.button(Words.showCode) { [weak self] in if let self, let page { onShowCode(page) } },
        ] {
            gtk_widget_set_hexpand(button, 1)
            button.wrapButton()
            buttons.append(button)
        }
        for part in [notice, buttons] { part.margins(12) }
        list.view.addClass("conversations")
        let scrolled = Make.scrolled(list.view)
        gtk_widget_set_vexpand(scrolled, 1)
        root.append(header)
        root.append(Make.clamp(notice, width: 600))
        root.append(scrolled)
        root.append(Make.clamp(buttons, width: 600))
    }

    func show(_ page: DevicesPage) {
        guard page != self.page else { return }
        self.page = page
        adw_window_title_set_title(opaque(title), page.title)
        adw_window_title_set_subtitle(opaque(title), page.isOwn ? page.key.account : page.key.jid)
        notice.setText(page.notice)
        buttons.show(page.code != nil)
        list.show(page.rows)
        kalij_description(list.view, page.notice)
    }

    /// Focuses the first device, or the first button.
    func focus() {
        guard list.rows.isEmpty else { return list.focusRow(or: list.rows.indices.first) }
        gtk_widget_child_focus(page?.code == nil ? root : buttons, GTK_DIR_TAB_FORWARD)
    }

    private func showMenu(of place: Int, at bounds: GdkRectangle? = nil) {
        guard list.rows.indices.contains(place), let page, let at = bounds ?? list.bounds(of: place, in: root) else {
            return
        }
        let device = list.rows[place]
        let items = { (isDestructive: Bool) in
            device.actions.filter { $0.isDestructive == isDestructive }.map { action in
                MenuItem(action.words) { [weak self] in self?.onDevice(action, device, page) }
            }
        }
        guard !device.actions.isEmpty else { return }
        ContextMenu.show([items(false), items(true)], over: root, at: at) { [weak self] in
            self?.list.focusRow(or: place)
        }
    }
}
