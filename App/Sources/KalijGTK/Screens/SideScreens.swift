import CAdwaita
import KalijClient

/// The screens that take the whole window beside the lists, created when they are first shown.
final class SideScreens {
    enum Name { case newConversation, newGroup, group, requests, contact, devices, newAccount, settings }

    private(set) lazy var newConversation = added(NewConversationScreen(), \.root, named: true)
    private(set) lazy var newGroup = added(NewGroupScreen(), \.root)
    private(set) lazy var group = added(GroupScreen(), \.root)
    private(set) lazy var requests = added(RequestsScreen(), \.root)
    private(set) lazy var contact = added(ContactScreen(), \.root)
    private(set) lazy var devices = added(DevicesScreen(), \.root)
    private(set) lazy var newAccount = added(NewAccountScreen(directory), \.root)
    private(set) lazy var settings = added(SettingsScreen(), \.root)
    /// The screen that is shown; nil for the lists.
    var shown: Name?
    /// Whether the screen was opened from that of the contact, to which its back button leads.
    var isAboveContact = false
    private let pages: Pages
    private let directory: AccountDirectory

    init(_ pages: Pages, _ directory: AccountDirectory) { (self.pages, self.directory) = (pages, directory) }

    /// - Parameter named: whether the screen has named its widgets itself.
    private func added<Screen>(_ screen: Screen, _ root: KeyPath<Screen, Widget>, named: Bool = false) -> Screen {
        pages.add(screen[keyPath: root], "")
        if !named { Names.fill(screen[keyPath: root]) }
        return screen
    }

    func show(_ name: Name) {
        shown = name
        switch name {
        case .newConversation: pages.show(newConversation.root)
        case .newGroup: pages.show(newGroup.root)
        case .group: pages.show(group.root)
        case .requests: pages.show(requests.root)
        case .contact: pages.show(contact.root)
        case .devices: pages.show(devices.root)
        case .newAccount: pages.show(newAccount.root)
        case .settings: pages.show(settings.root)
        }
    }
}
