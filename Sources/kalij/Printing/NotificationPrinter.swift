import KalijClient
import KalijText

/// Prints what the user is to be notified of to standard output. It was shown when whoever reads there has it.
final class NotificationPrinter {
    private let json: Bool
    /// What was printed, and not taken by then.
    private var unread: Notification?

    /// Seconds that a reader may take.
    private static let patience = 0.5

    init(json: Bool) { self.json = json }

    private struct Record: Encodable {
        var event = "notification"
        let kind: String
        var account: String?
        var conversation: String?
        var sender: String?
        var body: String?
        var identifier: String?
        var at: String?
    }

    /// - Throws: `OutputClosed`, `Failure`: nobody has read it, as far as can be told.
    func print(_ notification: Notification) throws {
        let isRepeated = unread == notification
        // What is in the pipe still is not printed again.
        if unread != nil { try Output.awaitReader(within: isRepeated ? Self.patience : 0) }
        unread = nil
        if isRepeated { return }
        try Output.results(line(notification) + "\n")
        unread = notification
        try Output.awaitReader(within: Self.patience)
        unread = nil
    }

    /// What is printed of it.
    func line(_ notification: Notification) throws -> PrintedText {
        guard json else {
            switch notification.kind {
            case .show: return "\(notification.sender): \(notification.body)"
            case .withdraw: return "\(notification.sender): read elsewhere: \(notification.body)"
            }
        }
        return try JSONLine.of(
            Record(
                kind: notification.kind.rawValue, account: notification.account,
                conversation: notification.conversation, sender: notification.sender, body: notification.body,
                identifier: notification.identifier, at: Stamp.of(notification.at)))
    }

    /// There is more than could be fetched.
    func reopen() { Output.line(reopening) }

    /// The line that says so; made at the start of each run, so not with an encoder, which costs pages.
    var reopening: PrintedText {
        json ? #"{"event":"notification","kind":"reopen"}"# : "There is more: open Kalij to fetch it."
    }
}
