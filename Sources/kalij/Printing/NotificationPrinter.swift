import KalijClient

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
        guard json else {
            switch notification.kind {
            case .show: Output.line("\(notification.sender): \(notification.body)")
            case .withdraw: Output.line("\(notification.sender): read elsewhere: \(notification.body)")
            }
            return
        }
        write(
            Record(
                kind: notification.kind.rawValue, account: notification.account,
                conversation: notification.conversation, sender: notification.sender, body: notification.body,
                identifier: notification.identifier, at: Stamp.of(notification.at)))
    }

    /// There is more than could be fetched.
    func reopen() { Output.line(reopening) }

    /// The line that says so; made at the start of each run, so not with an encoder, which costs pages.
    var reopening: String {
        json ? #"{"event":"notification","kind":"reopen"}"# : "There is more: open Kalij to fetch it."
    }

    private func write(_ record: Record) {
        do { Output.line(try JSONLine.of(record)) } catch { Output.error("\(error)") }
    }
}
