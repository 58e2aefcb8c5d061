import KalijStore
import KalijXML

/// Notifications of the user, and another device of the account that displays messages (XEP-0333).
final class SimulatedNotifications: SimulatedFeature {
    unowned let server: SimulatedServer
    /// Messages displayed on another device, where the client had the message before the marker, and has acknowledged the marker.
    private var acknowledgedReadings: Set<Int> = []
    /// Messages displayed on another device. The client perhaps knows.
    private(set) var readings: Set<Int> = []

    init(_ server: SimulatedServer) { self.server = server }

    /// Another device of the account tells that the newest message of `sender` was displayed.
    func read(from sender: String) {
        let (archive, account) = (server.archive, server.account)
        let texts = archive.messages.filter { $0.from == sender && $0.body != nil }
        guard let message = texts.last(where: { $0.to == account }) else { return }
        server.feature(SimulatedReading.self).note(message, of: String(sender.prefix { $0 != "/" }))
        let isKnown = server.acknowledgedMessages.contains(message.number)
        let marker = """
            <message from='\(account)/phone' to='\(sender.prefix { $0 != "/" })' type='chat' id='\(server.newID("d"))'>\
            <displayed xmlns='urn:xmpp:chat-markers:0' id='\(message.messageID)'/></message>
            """
        server.feature(SimulatedCarbons.self).copy(
            marker, acknowledged: isKnown ? { [weak self] in self?.acknowledgedReadings.insert(message.number) } : nil)
    }

    /// Somebody has read the conversation with `contact` up to `message`; the client perhaps knows.
    func read(through message: ArchivedMessage, of contact: String) {
        // Of messages delivered in another order than the archive's, a later message is perhaps taken for an earlier message.
        let end = message.at + (server.profile.deliveredLate > 0 ? 100 : 0)
        let texts = server.archive.messages.lazy.filter { $0.body != nil && $0.from.hasPrefix(contact + "/") }
        readings.formUnion(texts.filter { $0.number <= message.number || $0.at <= end }.map(\.number))
    }

    /// The client had `message`, and knows that the message was read.
    func acknowledge(_ message: ArchivedMessage) { acknowledgedReadings.insert(message.number) }

    private struct Notice {
        let id: String
        let identifier: String
        let isDone: Bool
    }

    /// Promise 4: every notification owed was shown, and is no longer visible if the message was read elsewhere.
    func check(_ database: Database, of simulation: Simulation) throws -> [Violation] {
        let notices = try database.prepare(
            "SELECT m.message_id, n.message, n.done FROM notification n JOIN message m ON m.id = n.message"
        ).all { Notice(id: $0.text("message_id"), identifier: "\($0.integer("message"))", isDone: $0.bool("done")) }
        // Nobody is notified of a blocked sender's messages.
        let incoming = server.archive.messages.filter {
            !$0.from.hasPrefix(server.account) && $0.body != nil && !$0.from.hasPrefix(SimulatedBlocking.blocked)
        }
        let model = server.feature(SimulatedOperations.self).model
        // A corrected text is shown as it is at the time.
        let shown = simulation.record.shown(incoming.map { ($0, model.texts(of: $0)) })
        // A correction that names a correction the client never had is a line of its own.
        let gone = server.archive.gone
        let uncertain = Set(
            incoming.lazy.filter { message in
                (model.changes[message.number] ?? []).contains {
                    model.chain(of: $0).contains { gone.contains($0.number) }
                }
            }.map(\.messageID))
        let texts = Dictionary(incoming.map { ($0.messageID, $0.text) }) { first, _ in first }
        var violations: [Violation] = []
        for notice in notices {
            let body = texts[notice.id] ?? notice.id
            if !notice.isDone {
                violations.append(Violation(.promise4, "\(body) waits to be shown"))
            } else if texts[notice.id] != nil, !uncertain.contains(notice.id),
                shown[body].map({ $0.identifier ?? notice.identifier }) != notice.identifier
            {
                violations.append(Violation(.promise4, "\(body) was never shown"))
            }
        }
        let forgotten = Set(simulation.record.changes.values.lazy.filter { $0.kind == .forget }.map(\.target))
        // Nobody is notified of a message that is gone.
        let erased = Set(
            incoming.lazy.filter { model.shown($0).isRetracted || forgotten.contains($0.messageID) }.map(\.number))
        // A message read on another device need not be shown any more.
        for message in incoming
        where simulation.plan.mainNotifies && shown[message.text] == nil && !readings.contains(message.number)
            && !gone.contains(message.number) && !erased.contains(message.number)
        {
            violations.append(Violation(.promise4, "\(message.text) was never shown"))
        }
        for message in incoming
        where acknowledgedReadings.contains(message.number) && shown[message.text]?.isVisible ?? false {
            violations.append(Violation(.promise4, "\(message.text) was read elsewhere and is shown still"))
        }
        let retracted = Set(
            try database.prepare("SELECT message_id FROM message WHERE erased = 'retracted'").all { $0.text() })
        for message in incoming where retracted.contains(message.messageID) && shown[message.text]?.isVisible ?? false {
            violations.append(Violation(.promise4, "\(message.text) was retracted and is shown still"))
        }
        // After a power failure nothing is visible, and nobody has withdrawn the notification.
        // A correction without its original is a line, and the notification of this line is perhaps withdrawn. A message whose place nobody can tell may stand
        // after a message that nobody has read.
        let reading = server.feature(SimulatedReading.self)
        for message in incoming
        where !readings.contains(message.number) && !erased.contains(message.number)
            && model.texts(of: message).count == 1 && reading.isOrdered(model.conversation(of: message))
        {
            if let shown = shown[message.text], !shown.isVisible, shown.identifier != nil {
                violations.append(Violation(.promise4, "\(message.text) was withdrawn, and nobody has read it"))
            }
        }
        return violations
    }
}
