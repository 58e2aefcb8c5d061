import KalijClient
import KalijText

/// Prints notifications for the user to standard output. A notification counts as shown when the reader has read the line.
final class NotificationPrinter {
    private let json: Bool
    /// The notification that was printed, and not read in time.
    private var unread: Notification?

    /// How many seconds a reader may take to read a line.
    private static let timeout = 0.5

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

    /// - Throws: `OutputClosed`, `Failure`. In each case the line was not read, as far as can be determined.
    func print(_ notification: Notification) throws {
        let isRepeated = unread == notification
        // A line still in the pipe is not printed again.
        if unread != nil { try Output.awaitReader(within: isRepeated ? Self.timeout : 0) }
        unread = nil
        if isRepeated { return }
        try Output.results(line(notification) + "\n")
        unread = notification
        try Output.awaitReader(within: Self.timeout)
        unread = nil
    }

    /// The line of a notification.
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

    /// Reports that more is pending than could be fetched.
    func reopen() { Output.line(reopening) }

    /// The line of ``reopen()``; created at the start of each run, and therefore without an encoder, which takes up memory pages.
    var reopening: PrintedText {
        json
            ? #"{"event":"notification","kind":"reopen"}"#
            : "There is more: `kalij run`, or another `kalij wake`, fetches it."
    }
}
