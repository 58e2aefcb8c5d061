@testable import KalijClient
@testable import KalijFeatures
@testable import KalijSteps

/// The promises to the user and the application, and the notifications seen by the user.
final class Record {
    /// Messages, in the order of acceptance.
    var accepted: [String] = []
    /// Messages accepted after the client had read a part of the archive.
    var acceptedLate: Set<String> = []
    /// Callbacks.
    var waiting: Set<Int> = []
    /// The last notification of each message, by the message's text.
    private(set) var shown: [String: Shown] = [:]

    /// The event told under each number, in short.
    private var told: [Int64: String] = [:]

    struct Shown {
        /// Nil after a power failure.
        var identifier: String?
        var isVisible: Bool
        /// How often the notification was shown.
        var count: Int
    }

    /// After a power failure nothing is visible any more. A notification committed without a sync may come under another
    /// identifier.
    func failPower() {
        for body in shown.keys {
            shown[body]?.identifier = nil
            shown[body]?.isVisible = false
        }
    }

    /// An application is told of a message: no number is given twice, whatever was forgotten meanwhile.
    func tell(_ event: EngineEvent, _ violated: (Violation) -> Void) {
        guard let number = event.number else { return }
        let text: String
        guard let content = event.content as? any MessageEvent else { return }
        let kind = content is MessageStateChanged ? content.message.state?.rawValue : nil
        text = "\(kind ?? type(of: content).name) \(content.message.body ?? "")"
        if let before = told.updateValue(text, forKey: number), before != text {
            violated(Violation(.events, "event \(number) is \"\(before)\" and \"\(text)\""))
        }
    }

    /// A notification appears, or disappears.
    func show(_ notification: Notification, _ violated: (Violation) -> Void) {
        var one = shown[notification.body] ?? Shown(identifier: notification.identifier, isVisible: false, count: 0)
        if let identifier = one.identifier, identifier != notification.identifier {
            violated(
                Violation(
                    .promise4, "\(notification.body) is shown as \(notification.identifier) and as \(identifier)"))
        }
        one.identifier = notification.identifier
        one.isVisible = notification.kind == .show
        if one.isVisible { one.count += 1 }
        shown[notification.body] = one
    }
}
