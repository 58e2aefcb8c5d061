import KalijApp

/// Notifications of the Desktop Notifications Specification (`org.freedesktop.Notifications`): the desktop chooses a number, and
/// actions are signals, which only a running process receives.
struct FreedesktopNotifications: NotificationDisplay {
    let bus: SessionBus
    /// The application's id, which is the name of its .desktop file.
    let application: String
    /// The folder of ``NoticeFile``.
    let directory: String
    private let owner: String
    private let capabilities: Set<String>

    static let service = "org.freedesktop.Notifications"
    static let path = "/org/freedesktop/Notifications"

    /// Starts the service if it does not run.
    /// - Throws: `BusError` if there is none.
    init(_ bus: SessionBus, application: String, directory: String) async throws {
        (self.bus, self.application, self.directory) = (bus, application, directory)
        capabilities = Set(
            try await bus.call(Self.service, Self.path, Self.service, "GetCapabilities").texts(0) ?? [])
        owner = try await bus.owner(of: Self.service)
    }

    var name: String { Self.name(bus, owner) }
    /// - Parameter owner: the unique name of the service.
    static func name(_ bus: SessionBus, _ owner: String) -> String { "freedesktop \(owner) \(bus.identity)" }

    func show(_ content: NotificationContent, _ target: NotificationTarget, replacing handle: NotificationHandle?)
        async throws -> UInt32
    {
        let file = NoticeFile(directory, target.key, display: name)
        var number = handle?.number
        if number == nil { number = await file.number() } else { file.remove() }
        guard let number else { return try await file.show(arguments(content, target, replacing: 0)) }
        let arguments = arguments(content, target, replacing: number)
        return try await bus.call(Self.service, Self.path, Self.service, "Notify", arguments).number(0) ?? 0
    }

    private func arguments(
        _ content: NotificationContent, _ target: NotificationTarget, replacing number: UInt32
    ) -> [BusValue] {
        let body = capabilities.contains("body-markup") ? Self.escaped(content.body) : content.body
        let hints: [(String, BusValue)] = [("category", .text("im.received")), ("desktop-entry", .text(application))]
        return [
            .text("Kalij"), .unsigned(number), .text("user-available"), .text(content.title), .text(body),
            .texts(actions), .properties(hints), .signed(Self.desktopChooses),
        ]
    }

    func withdraw(_ key: ConversationKey, _ handle: NotificationHandle?) async throws {
        let file = NoticeFile(directory, key, display: name)
        var number = handle?.number
        if number == nil { number = await file.number() }
        file.remove()
        guard let number, number > 0 else { return }
        // The desktop reports an error if the user has dismissed the notification.
        _ = try? await bus.call(Self.service, Self.path, Self.service, "CloseNotification", [.unsigned(number)])
    }

    /// The expiry in milliseconds that the desktop chooses.
    private static let desktopChooses: Int32 = -1
    static let (open, reply, inlineReply) = ("default", "reply", "inline-reply")

    private var actions: [String] {
        guard capabilities.contains("actions") else { return [] }
        let reply = capabilities.contains(Self.inlineReply) ? Self.inlineReply : Self.reply
        return [Self.open, Words.open, reply, Words.reply, ActionName.markAsRead, Words.markAsRead]
    }

    private static func escaped(_ text: String) -> String {
        text.reduce(into: "") { result, character in
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            default: result.append(character)
            }
        }
    }
}
