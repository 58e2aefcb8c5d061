import KalijClient
import KalijText

/// Prints what the user is to be notified of to standard output.
struct NotificationPrinter {
    let json: Bool

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

    func print(_ notification: Notification) {
        do { Output.line(try line(notification)) } catch { Output.error("\(error)") }
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
