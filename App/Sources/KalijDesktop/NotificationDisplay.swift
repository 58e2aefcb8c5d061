import KalijApp

/// Displays the notifications of an application on the desktop.
protocol NotificationDisplay {
    /// The D-Bus name of the service that displays, as a word of the handle.
    var name: String { get }
    /// Displays a notification; replaces the one with `handle`.
    /// - Returns: the number that the desktop has assigned; 0 if it assigns none.
    /// - Throws: `BusError`
    func show(_ content: NotificationContent, _ target: NotificationTarget, replacing handle: NotificationHandle?)
        async throws -> UInt32
    /// Removes a notification, which may not exist any more.
    func withdraw(_ key: ConversationKey, _ handle: NotificationHandle?) async throws
}

/// Identifies a notification on the desktop, also for the next process.
struct NotificationHandle: Equatable {
    /// The display that shows it, for this run of its program: numbers are assigned again by the next.
    let display: String
    let number: UInt32
    /// The row of the message that it displays.
    let message: Int64
    /// ``NotificationTarget/id``.
    let id: String

    var text: String { "\(number) \(message) \(id) \(display)" }

    init(display: String, number: UInt32, target: NotificationTarget) {
        (self.display, self.number, message, id) = (display, number, target.message, target.id)
    }

    init?(_ text: String) {
        let parts = text.split(separator: " ", maxSplits: 3).map(String.init)
        guard parts.count == 4, let number = UInt32(parts[0]), let message = Int64(parts[1]) else { return nil }
        (self.number, self.message, id, display) = (number, message, parts[2], parts[3])
    }
}

extension NotificationTarget {
    init(_ key: ConversationKey, _ handle: NotificationHandle) {
        self.init(key: key, message: handle.message, id: handle.id)
    }
}

/// The names of the actions, which the application exports with a target (``NotificationTarget/text``).
enum ActionName {
    static let open = "open-conversation"
    static let markAsRead = "mark-as-read"
}
