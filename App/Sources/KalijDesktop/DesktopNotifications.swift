import Glibc
import KalijApp
import KalijClient

/// Presents the engine's notifications on the desktop, one a conversation, and receives what the user does with them.
public final class DesktopNotifications {
    private let bus: SessionBus
    private let reader: Reader
    private let application: String
    /// The display in use; nil until the first notification, and after the desktop's service has ended.
    private var display: (any NotificationDisplay)?
    /// What this process has shown: a handle is stored a moment after the notification is visible.
    private var handles: [ConversationKey: NotificationHandle] = [:]
    /// Whether the conversation is visible in the focused window.
    public var isVisible: (ConversationKey) -> Bool = { _ in false }
    public var onAction: (NotificationAction, NotificationTarget) -> Void = { _, _ in }

    /// - Parameter application: the application's id.
    /// - Returns: nil without a session bus.
    public init?(_ reader: Reader, application: String) {
        guard let bus = SessionBus() else { return nil }
        (self.bus, self.reader, self.application) = (bus, reader, application)
        subscribe()
    }

    // MARK: Presenting

    /// Presents the notifications of an engine until the engine ends.
    public var presenter: Backend.Presenter { { [self] in await present($0) } }

    private func present(_ notifications: Notifications) async {
        for await notification in notifications {
            do { try await present(notification, notifications) } catch { notifications.notShown(notification) }
        }
    }

    private func present(_ notification: Notification, _ notifications: Notifications) async throws {
        let key = ConversationKey(account: notification.account, jid: notification.peer)
        guard let stored = try await reader.notification(key) else { return }
        guard let display = try await currentDisplay() else { return }
        let handle = stored.handle.flatMap { NotificationHandle($0) }.flatMap { $0.display == display.name ? $0 : nil }
        guard let content = stored.content, !isVisible(key) else {
            guard notification.kind == .withdraw else { return }
            try await display.withdraw(key, handle)
            handles[key] = nil
            return
        }
        // An older message was read elsewhere.
        guard handle?.message != content.message else { return }
        let target = NotificationTarget(key: key, message: content.message, id: Self.uniqueID())
        let number = try await display.show(content, target, replacing: handle)
        let shown = NotificationHandle(display: display.name, number: number, target: target)
        handles[key] = shown
        notifications.shown(notification, handle: shown.text)
    }

    private static func uniqueID() -> String {
        "n" + String(UInt64.random(in: 0 ... .max), radix: 36) + String(UInt64.random(in: 0 ... .max), radix: 36)
    }

    /// - Returns: nil if no program displays notifications.
    private func currentDisplay() async throws -> (any NotificationDisplay)? {
        if let display { return display }
        do { display = try await newDisplay() } catch let error as BusError where error.isNoService { return nil }
        return display
    }

    private func newDisplay() async throws -> any NotificationDisplay {
        if await bus.isOwned(GTKNotifications.gnome) { return GTKNotifications(bus: bus, application: application) }
        if Self.usesPortal { return GTKNotifications(bus: bus, application: nil) }
        return try await FreedesktopNotifications(
            bus, application: application, directory: reader.directory.path)
    }

    /// As GLib decides: within a sandbox, or on request.
    static var usesPortal: Bool {
        access("/.flatpak-info", F_OK) == 0 || getenv("GTK_USE_PORTAL").map { String(cString: $0) } == "1"
    }

    // MARK: Actions

    private func subscribe() {
        let service = FreedesktopNotifications.service
        bus.subscribe("org.freedesktop.DBus", "org.freedesktop.DBus", "NameOwnerChanged") { [weak self] _, body in
            guard let name = body.text(0), [service, GTKNotifications.gnome].contains(name) else { return }
            self?.display = nil
        }
        bus.subscribe(service, service, "ActionInvoked") { [weak self] sender, body in
            guard let number = body.number(0), let action = body.text(1) else { return }
            switch action {
            case FreedesktopNotifications.open, FreedesktopNotifications.reply: self?.act(.open, on: number, of: sender)
            case ActionName.markAsRead: self?.act(.markAsRead, on: number, of: sender)
            default: break
            }
        }
        // Of KDE's service, with the capability `inline-reply`.
        bus.subscribe(service, service, "NotificationReplied") { [weak self] sender, body in
            guard let number = body.number(0), let text = body.text(1) else { return }
            self?.act(.reply(text), on: number, of: sender)
        }
    }

    /// Signals are sent to all programs: only numbers of known handles are notifications of this one.
    private func act(_ action: NotificationAction, on number: UInt32, of owner: String) {
        let display = FreedesktopNotifications.name(bus, owner)
        func isMeant(_ handle: NotificationHandle) -> Bool { handle.display == display && handle.number == number }
        Task {
            let stored = (try? await reader.notificationHandles()) ?? []
            let known = stored.compactMap { item in NotificationHandle(item.handle).map { (item.key, $0) } }
            let meant = handles.first { isMeant($0.value) }.map { ($0.key, $0.value) } ?? known.first { isMeant($0.1) }
            if let (key, handle) = meant { onAction(action, NotificationTarget(key, handle)) }
        }
    }

    /// An action of a notification that the application exports.
    /// - Parameter target: the action's parameter, which any program may send.
    public func activated(_ action: String, _ target: String) {
        guard let target = NotificationTarget(target) else { return }
        switch action {
        case ActionName.open: onAction(.open, target)
        case ActionName.markAsRead: onAction(.markAsRead, target)
        default: break
        }
    }

    /// The actions that the application has to export, each with a string as its parameter.
    public static let actions = [ActionName.open, ActionName.markAsRead]
}
