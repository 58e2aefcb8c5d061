@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// The promises to the user and the application, and the notifications seen by the user.
final class Record {
    /// Messages, in the order of acceptance.
    var accepted: [String] = []
    /// Messages accepted after the client had read a part of the archive.
    var acceptedLate: Set<String> = []
    /// The ids of the accepted messages.
    var acceptedIDs: Set<String> = []
    /// The id of the last message accepted for each contact.
    var last: [Int: String] = [:]
    /// The user's changes of messages, by the intent's id.
    var changes: [String: WantedChange] = [:]
    /// The user's readings, by the intent's id.
    var readings: [String: WantedReading] = [:]
    /// The ids of the accepted changes of the blocklist.
    var blockings: Set<String> = []
    /// The accepted files, by the ids of their messages.
    var files: Set<String> = []
    /// Whether the user has entered the room.
    var hasJoined = false
    /// Whether the user wants pushes.
    var hasPush = false
    /// What the user has said in the room, in the order of acceptance.
    var sayings: [String] = []
    /// The texts of the encrypted conversation, in the order of acceptance.
    var said: [String] = []
    /// The texts that were perhaps accepted, too.
    var perhapsSaid: Set<String> = []
    /// Whether the user has turned encryption on.
    var isEncrypted = false
    /// How often the disk was put back.
    var restores = 0
    /// The texts of `said` before the disk was put back: they may be lost.
    var saidBefore: Set<String> = []
    /// Callbacks.
    var waiting: Set<Int> = []
    /// The last notification of each text.
    private(set) var shown: [String: Shown] = [:]

    /// The last notification of each message, by the text that the message had first.
    /// - Parameter messages: the messages, and the texts that each can have had.
    func shown(_ messages: [(message: ArchivedMessage, texts: [String])]) -> [String: Shown] {
        var all: [String: Shown] = [:]
        for (message, texts) in messages {
            // A later text replaces the notification of an earlier text.
            all[message.text] = texts.compactMap { shown[$0] }.max { !$0.isVisible && $1.isVisible }
        }
        return all
    }

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
        lastTexts = [:]
    }

    /// The text shown last under each identifier. A withdrawn text may be gone.
    private var lastTexts: [String: String] = [:]

    /// An application is told of a message: no number is given twice, whatever was forgotten meanwhile.
    func tell(_ event: EngineEvent, _ violated: (Violation) -> Void) {
        guard let number = event.number else { return }
        let text: String
        guard let content = event.content as? any MessageEvent else { return }
        let kind = content is MessageStateChanged ? content.message.state?.rawValue : nil
        // The text of a message may be corrected meanwhile.
        text = "\(kind ?? type(of: content).name) \(content.message.messageID)"
        if let before = told.updateValue(text, forKey: number), before != text {
            violated(Violation(.events, "event \(number) is \"\(before)\" and \"\(text)\""))
        }
    }

    /// A notification appears, or disappears.
    func show(_ notification: Notification, _ violated: (Violation) -> Void) {
        let isWithdrawn = notification.kind == .withdraw
        let text = isWithdrawn ? lastTexts[notification.identifier] ?? notification.body : notification.body
        // After a power failure nothing is visible; and a message that cannot be read has no text to know it by.
        if text.isEmpty { return }
        var one = shown[text] ?? Shown(identifier: notification.identifier, isVisible: false, count: 0)
        if let identifier = one.identifier, identifier != notification.identifier {
            // A correction is a line of its own until its original comes.
            if !text.hasPrefix("edit-") {
                violated(
                    Violation(.promise4, "\(text) is shown as \(notification.identifier) and as \(identifier)"))
            } else if isWithdrawn {
                return
            }
        }
        one.identifier = notification.identifier
        one.isVisible = !isWithdrawn
        if one.isVisible { one.count += 1 }
        shown[text] = one
        lastTexts[notification.identifier] = text
    }
}
