import KalijApp

/// Notifications of GNOME (`org.gtk.Notifications`), or of the portal (`org.freedesktop.portal.Notification`): the application
/// chooses the identifier, and actions are calls of `org.freedesktop.Application`, which start it if it does not run.
struct GTKNotifications: NotificationDisplay {
    let bus: SessionBus
    /// The application's id for GNOME; nil for the portal, which determines it.
    let application: String?

    var name: String { application == nil ? "portal" : "gtk" }

    static let gnome = "org.gtk.Notifications"
    static let portal = "org.freedesktop.portal.Desktop"

    func show(_ content: NotificationContent, _ target: NotificationTarget, replacing handle: NotificationHandle?)
        async throws -> UInt32
    {
        func button(_ label: String, _ action: String) -> [(String, BusValue)] {
            [("label", .text(label)), ("action", .text("app." + action)), ("target", .text(target.text))]
        }
        var fields: [(String, BusValue)] = [
            ("title", .text(content.title)), ("default-action", .text("app." + ActionName.open)),
            ("default-action-target", .text(target.text)),
            (
                "buttons",
                .list([button(Words.reply, ActionName.open), button(Words.markAsRead, ActionName.markAsRead)])
            ),
        ]
        if !content.body.isEmpty { fields.append(("body", .text(content.body))) }
        try await call("AddNotification", target.key, [.properties(fields)])
        return 0
    }

    func withdraw(_ key: ConversationKey, _ handle: NotificationHandle?) async throws {
        try await call("RemoveNotification", key, [])
    }

    private func call(_ method: String, _ key: ConversationKey, _ rest: [BusValue]) async throws {
        let id = BusValue.text(key.account + " " + key.jid)
        if let application {
            try await bus.call(
                Self.gnome, "/org/gtk/Notifications", Self.gnome, method, [.text(application), id] + rest)
        } else {
            try await bus.call(
                Self.portal, "/org/freedesktop/portal/desktop", "org.freedesktop.portal.Notification", method,
                [id] + rest)
        }
    }
}
