import KalijStore
import KalijXML

@testable import KalijFeatures
@testable import KalijCore

extension Violation.Promise {
    /// What was read, on whatever device.
    static let reading = Violation.Promise("reading")
}

extension SimulatedReading {
    func check(_ database: Database, of simulation: Simulation) throws -> [Violation] {
        guard let account = simulation.account else { return [] }
        var wrong = try checkMarkers(database, of: simulation)
        for contact in Simulation.contacts.prefix(3).map({ String($0.prefix { $0 != "/" }) }) where isOrdered(contact) {
            wrong += try checkPlace(contact, account, database, simulation.record)
        }
        wrong += try checkIntents(database, simulation.record)
        return (wrong + checkNode()).map { Violation(.reading, $0) }
    }

    /// Whether the client has all messages of a conversation, in the record's order.
    func isOrdered(_ contact: String) -> Bool {
        let archive = server.feature(SimulatedArchive.self).archive
        return archive.messages.allSatisfy { message in
            let isOthers = !message.from.hasPrefix(contact + "/")
            let isMissing =
                archive.gone.contains(message.number) || archive.older.contains(message.number)
                || archive.unplaced.contains(message.number) || archive.passedOver.contains(message.number)
            return isOthers || !isMissing && (message.isKept || !server.profile.hasArchive)
        }
    }

    // MARK: Places

    /// The place was somebody's, and is the last that the client knows of; the unread messages are the messages after the place.
    private func checkPlace(
        _ contact: String, _ account: Account, _ database: Database, _ record: Record
    ) throws -> [String] {
        let stored = try database.prepare(
            """
            SELECT m.message_id, m.stanza_id, d.is_own FROM displayed d JOIN message m ON m.id = d.message WHERE d.conversation = ?
            """
        ).first([.text(contact)]) {
            (id: $0.text("message_id"), archived: $0.optionalText("stanza_id"), isOwn: $0.bool("is_own"))
        }
        let texts = texts(of: contact)
        let named = stored.flatMap { stored in texts.first { $0.messageID == stored.id } }
        // ejabberd gives several messages the same id: then the place may be at the user's own, right behind.
        let place = named ?? stored.flatMap { stored in texts.first { $0.id == stored.archived } }
        let operations = server.feature(SimulatedOperations.self).operations
        // A correction of an unknown message is a message of its own.
        let isCorrection = server.archive.messages.contains {
            $0.messageID == stored?.id && $0.from.hasPrefix(contact + "/") && operations[$0.number] != nil
        }
        if isCorrection { return [] }
        if stored != nil, place == nil { return ["the place of \(contact) is at no message of theirs"] }
        let number = place?.number ?? 0
        var wrong: [String] = []
        if number > 0, !(read[contact] ?? []).contains(number) {
            wrong.append("\(place?.text ?? "") of \(contact) counts as read, and nobody has read so far")
        }
        // Carbons go nowhere while there is no session, but the node is asked again.
        let done = try Self.performed(record, database).filter { $0.contact == contact }.map(\.target.number).max() ?? 0
        // An heir to a session may have taken a notification away.
        let published = server.profile.hasSeveralHeirs ? 0 : published(contact)?.number ?? 0
        let last = max(done, known[contact] ?? 0, published)
        if number < last { wrong.append("\(contact) was read up to message \(last), and stored is \(number)") }
        let unread = try DisplayedPlaces.unread(in: contact, of: account.id, in: database)
        let expected = unreadMessages(of: contact, after: number, record)
        if !expected.contains(unread) {
            wrong.append("\(unread) messages of \(contact) are unread after message \(number), and not \(expected)")
        }
        if stored?.isOwn ?? false, let place {
            wrong += checkOwn(place, contact)
        }
        return wrong
    }

    /// The user has read here up to `place`: the contact and the node are told.
    private func checkOwn(_ place: ArchivedMessage, _ contact: String) -> [String] {
        var wrong: [String] = []
        // The user may have written to others only since.
        if contact == SimulatedContacts.subscriber,
            !markers.contains(where: { $0.contact == contact && $0.message == place.messageID })
        {
            wrong.append("\(place.text) was read here, and \(contact) got no marker")
        }
        // Another device may have published an older place, and an heir to the session may have taken the notification away. What
        // another device has published, the node may have dropped for its next item: the device's node keeps one (seed 799100245).
        if server.profile.hasNodes, server.profile.hasArchive, !server.hadSeveralHeirs,
            max(published(contact)?.number ?? 0, publishedElsewhere[contact] ?? 0) < place.number
        {
            wrong.append(
                "\(place.text) of \(contact) was read here, and the node has \(published(contact)?.text ?? "-")")
        }
        return wrong
    }

    /// How many messages may be unread: a forgotten message may have been forgotten or not, and the client may not have the retraction
    /// of a correction.
    private func unreadMessages(of contact: String, after number: Int, _ record: Record) -> ClosedRange<Int> {
        let operations = server.feature(SimulatedOperations.self)
        let model = operations.model
        let forgotten = Set(record.changes.values.lazy.filter { $0.kind == .forget }.map(\.target))
        let later = server.archive.messages.filter { message in
            guard message.number > number, message.from.hasPrefix(contact + "/") else { return false }
            if message.body != nil { return !model.shown(message).isRetracted }
            return operations.operations[message.number]?.kind == .correction && model.target(of: message) == nil
        }
        let certain = later.count { message in
            !forgotten.contains(message.messageID) && !(message.body == nil && model.isRetracted(message))
        }
        return certain...later.count
    }

    /// The message in the account's node for a conversation.
    private func published(_ contact: String) -> ArchivedMessage? {
        guard let content = server.feature(SimulatedNodes.self).node(Self.node)?.content(of: contact),
            let id = try? Element.parse(Array(content.utf8)).child("stanza-id", "urn:xmpp:sid:0")?["id"]
        else { return nil }
        return texts(of: contact).last { $0.id == id }
    }

    /// The node names messages of others alone, and nobody else can read the node once the client has published there.
    private func checkNode() -> [String] {
        guard let node = server.feature(SimulatedNodes.self).node(Self.node) else { return [] }
        let archive = server.feature(SimulatedArchive.self).archive
        return node.items.compactMap { item in
            guard let id = try? Element.parse(Array(item.content.utf8)).child("stanza-id", "urn:xmpp:sid:0")?["id"],
                archive.messages.contains(where: { $0.id == id && $0.from.hasPrefix(item.id + "/") })
            else { return "the node names no message of \(item.id): \(item.content)" }
            return nil
        }
    }

    // MARK: Intents

    /// The user's readings that were performed.
    private static func performed(_ record: Record, _ database: Database) throws -> [WantedReading] {
        try database.prepare("SELECT id FROM intent WHERE name = 'read' AND problem = ''").all { $0.text() }
            .compactMap { record.readings[$0] }
    }

    /// Each accepted reading was performed.
    private func checkIntents(_ database: Database, _ record: Record) throws -> [String] {
        let outcomes = Dictionary(
            uniqueKeysWithValues: try database.prepare("SELECT id, problem FROM intent WHERE name = 'read'").all {
                ($0.text("id"), $0.optionalText("problem"))
            })
        return record.readings.sorted { $0.key < $1.key }.compactMap { id, reading in
            guard let outcome = outcomes[id] else { return reading.isAccepted ? "\(id) was never performed" : nil }
            return outcome == nil ? "\(id) has no outcome" : nil
        }
    }

    // MARK: Markers

    /// At most one marker for each message, to contacts that may know that the account is online.
    private func checkMarkers(_ database: Database, of simulation: Simulation) throws -> [String] {
        let isUncertain = server.begun > 1 && SimulatedMessages.mayBeUnknown(isLate: true, in: simulation)
        var wrong: [String] = []
        var last: [String: Int] = [:]
        for marker in markers {
            guard let text = texts(of: marker.contact).first(where: { $0.messageID == marker.message }) else {
                wrong.append("a marker for \(marker.message) went to \(marker.contact), who has sent no such message")
                continue
            }
            if marker.contact == "tybalt@example.com" { wrong.append("\(marker.contact) got a marker") }
            if marker.count > 1, !isUncertain {
                wrong.append("the marker for \(text.text) was sent \(marker.count) times")
            }
            if isOrdered(marker.contact), server.profile.deliveredLate == 0, text.number <= last[marker.contact] ?? 0 {
                wrong.append("\(text.text) got a marker after a later message")
            }
            last[marker.contact] = text.number
        }
        return wrong
    }
}
