import CAdwaita
import KalijApp

/// The settings of all accounts.
final class SettingsScreen {
    let root = Make.box(GTK_ORIENTATION_VERTICAL)
    var onBack: () -> Void = {}
    var onAction: (AccountAction, AccountSettings) -> Void = { _, _ in }
    var onSwitch: (SettingSwitch, Bool, AccountSettings) -> Void = { _, _, _ in }
    var onNotify: (NotifyLevel, AccountSettings) -> Void = { _, _ in }
    var onAppearance: (Appearance) -> Void = { _ in }
    private let accounts = Make.box(GTK_ORIENTATION_VERTICAL, spacing: 36)
    private let appearance = ChoiceView(
        Words.appearance, Appearance.allCases.map(\.words), hint: Words.textSizeHint, isSection: true)
    private let storage = Make.label(classes: "dim-label")
    private let scrolled: Widget
    private var views: [AccountSettingsView] = []

    init() {
        storage.wrapText()
        let caption = Make.label(Words.storage, classes: "heading")
        let content = Make.vertical(
            accounts, appearance.root, Make.vertical(caption, storage, spacing: 4), spacing: 36)
        content.margins(12)
        let clamp = Make.clamp(content, width: 460)
        scrolled = Make.scrolled(clamp, showsBar: true)
        gtk_widget_set_vexpand(scrolled, 1)
        let title = widget(OpaquePointer(adw_window_title_new(Words.settings, "")))
        let header = Make.header(title) { [weak self] in self?.onBack() }
        appearance.onChosen = { [weak self] place in self?.onAppearance(Appearance.allCases[place]) }
        root.append(header)
        root.append(scrolled)
    }

    func show(_ page: SettingsPage) {
        if views.map(\.settings.account) != page.accounts.map(\.account) {
            while let child = gtk_widget_get_first_child(accounts) { gtk_box_remove(cast(raw(accounts)), child) }
            views = page.accounts.map { AccountSettingsView($0, self) }
            for view in views { accounts.append(view.root) }
        }
        appearance.show(Appearance.allCases.firstIndex(of: page.appearance))
        storage.setText(page.storage)
        for (view, settings) in zip(views, page.accounts) { view.show(settings) }
    }

    /// Displays what is stored the next time: a choice was refused.
    func forgetChoices() { for view in views { view.forgetChoices() } }

    func scrollToTop() { scrolled.scrollToTop() }

    /// Focuses the first setting.
    func focus() { views.first?.focus() }
}

/// The settings of an account.
private final class AccountSettingsView {
    let root = Make.box(GTK_ORIENTATION_VERTICAL, spacing: 12)
    private(set) var settings: AccountSettings
    private weak var screen: SettingsScreen?
    private let avatar = Make.avatar(64)
    private let name = Make.label(classes: "title-4")
    private let facts = Make.label(classes: "dim-label")
    private var switches: [(setting: SettingSwitch, check: Widget)] = []
    private let notify = ChoiceView(Words.notifies, NotifyLevel.allCases.map(\.words), hint: Words.notifiesHint)
    private let storage = Make.label(classes: "dim-label")
    private lazy var buttons = Dictionary(
        uniqueKeysWithValues: AccountActionPlace.allCases.map { place in
            let buttons = AccountActionButtons { [weak self] action in
                if let self { self.screen?.onAction(action, self.settings) }
            }
            return (place, buttons)
        })
    private var isUpdating = false
    private var choices = SettingChoices()

    init(_ settings: AccountSettings, _ screen: SettingsScreen) {
        (self.settings, self.screen) = (settings, screen)
        for label in [name, facts] { label.wrapText() }
        let head = Make.horizontal(avatar, Make.vertical(name, facts, spacing: 4), spacing: 12)
        root.append(head)
        append(.profile, to: root)
        notify.onChosen = { [weak self] place in
            if let self { choose(NotifyLevel.allCases[place]) }
        }
        storage.wrapText()
        for section in SettingSection.allCases { append(section) }
        let account = Make.section(Words.theAccount)
        append(.account, to: account)
        root.append(account)
        show(settings, isFirst: true)
        Names.fill(root)
    }

    private func append(_ place: AccountActionPlace, to box: Widget) {
        if let buttons = buttons[place] { box.append(buttons.root) }
    }

    private func append(_ section: SettingSection) {
        let box = Make.section(section.words)
        if section == .notifications { box.append(notify.root) }
        for setting in SettingSwitch.allCases where setting.section == section {
            let check = Make.check(setting.words)
            connect(check, "toggled") { [weak self] _ in
                guard let self, !isUpdating else { return }
                choose(setting, gtk_check_button_get_active(cast(raw(check))) != 0)
            }
            switches.append((setting, check))
            box.append(check)
        }
        if section == .files {
            box.append(storage)
            append(.files, to: box)
        }
        root.append(box)
    }

    private func choose(_ setting: SettingSwitch, _ isOn: Bool) {
        choices.choose(setting, isOn)
        settings = choices.shown(settings)
        screen?.onSwitch(setting, isOn, settings)
    }

    private func choose(_ level: NotifyLevel) {
        choices.choose(level)
        settings = choices.shown(settings)
        screen?.onNotify(level, settings)
    }

    /// Displays what is stored the next time: a choice was refused.
    func forgetChoices() { choices = SettingChoices() }

    func show(_ stored: AccountSettings, isFirst: Bool = false) {
        let settings = choices.shown(stored)
        guard isFirst || settings != self.settings else { return }
        isUpdating = true
        defer { isUpdating = false }
        if isFirst || settings.picture != self.settings.picture { Make.show(settings.picture, in: avatar) }
        self.settings = settings
        Make.show(settings.name.isEmpty ? settings.account : settings.name, settings.account, in: avatar)
        name.setText(settings.name.isEmpty ? settings.account : settings.name)
        let second = settings.name.isEmpty ? Words.noOwnName : settings.account
        facts.setText([second, settings.state].filter { !$0.isEmpty }.joined(separator: "\n"))
        for (setting, check) in switches {
            gtk_check_button_set_active(cast(raw(check)), settings.on.contains(setting) ? 1 : 0)
        }
        notify.show(NotifyLevel.allCases.firstIndex(of: settings.notify))
        storage.setText(settings.storage)
        for (place, buttons) in buttons { buttons.show(settings.actions(at: place)) }
    }

    func focus() { gtk_widget_child_focus(root, GTK_DIR_TAB_FORWARD) }
}
