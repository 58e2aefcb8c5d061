import KalijStore
import KalijXML

@testable import KalijFeatures
@testable import KalijCore

extension Violation.Promise {
    /// Older history of a conversation is stored once, without a hole, in the archive's order, and is neither unread, notified nor answered.
    static let olderHistory = Violation.Promise("older history")
}

/// Messages from before the first login, which the archive returns to a client that requests them (XEP-0313 section 4.1.1, `with`).
final class SimulatedOlderHistory: SimulatedFeature {
    unowned let server: SimulatedServer
    /// The ids of each contact's messages, oldest first.
    private var ids: [String: [String]] = [:]
    /// The smallest number of older messages that the last request of a contact's history can have had, which was accepted.
    private var requested: [String: Int] = [:]
    /// The messages that the client has answered by a receipt or a marker.
    private var answered: Set<String> = []

    private static let prefix = "old-"

    init(_ server: SimulatedServer) { self.server = server }

    static func actions(seed: UInt64, beside actions: [Plan.Action], length: Int64) -> [Plan.Action] {
        OlderRequest.all(seed: seed, beside: actions, length: length)
    }

    /// The two contacts' messages alternate, and now and then one of the contacts writes several in a row.
    func fill(_ messages: Int) {
        for number in 0..<messages {
            let sender = Simulation.contacts[number % 5 % 2]
            let id = Self.prefix + "\(number)"
            ids[Self.bare(sender), default: []].append(id)
            server.feature(SimulatedArchive.self).fileHistory(id, from: sender)
        }
    }

    func requested(_ older: Int, with contact: String, isAccepted: Bool) {
        let contact = Self.bare(contact)
        // A request that was perhaps accepted may be the last one.
        let last = requested[contact]
        requested[contact] = isAccepted ? older : last.map { min($0, older) }
    }

    private static func bare(_ address: String) -> String { String(address.prefix { $0 != "/" }) }

    func sent(_ message: Element, by session: ServerSession) {
        for (name, namespace) in [("received", "urn:xmpp:receipts"), ("displayed", "urn:xmpp:chat-markers:0")] {
            guard let id = message.child(name, namespace)?["id"], id.hasPrefix(Self.prefix) else { continue }
            answered.insert(id)
        }
    }

    func check(_ database: Database, of simulation: Simulation) throws -> [Violation] {
        let texts =
            try ids.sorted { $0.key < $1.key }.flatMap { try checkStored($1, of: $0, in: database) }
            + checkQuiet(database) + answered.sorted().map { "\($0) was answered" }
        return texts.map { Violation(.olderHistory, $0) }
    }

    /// Of each contact the newest of these messages are stored, once, in their order, before all others.
    private func checkStored(_ ids: [String], of contact: String, in database: Database) throws -> [String] {
        let stored = try database.prepare("SELECT message_id FROM message WHERE conversation = ? ORDER BY position, id")
            .all([.text(contact)]) { $0.text() }
        let older = stored.filter { $0.hasPrefix(Self.prefix) }
        // characters: messages.
        guard older == Array(ids.suffix(older.count)) else {
            return ["of \(contact) are stored \(older), not the newest of \(ids.count)"]
        }
        guard Array(stored.prefix(older.count)) == older else {
            return ["newer messages of \(contact) are before older ones"]
        }
        return try checkOutcome(older.count, of: ids.count, contact, in: database)
    }

    /// A request ends, and what ends without a problem has stored what was requested, or all that there is.
    private func checkOutcome(_ stored: Int, of all: Int, _ contact: String, in database: Database) throws -> [String] {
        let row = try database.prepare("SELECT outcome, complete FROM conversation_history WHERE conversation = ?")
            .first([.text(contact)]) { (outcome: $0.optionalText("outcome"), isComplete: $0.bool("complete")) }
        guard let row else {
            return requested[contact] == nil ? [] : ["older history of \(contact) was requested, and is not read"]
        }
        guard let outcome = row.outcome else { return ["the reading of \(contact)'s older history has not ended"] }
        let isForgotten = server.archive.history.isEmpty
        guard outcome.isEmpty, !isForgotten else { return [] }
        if row.isComplete {
            return stored == all ? [] : ["of \(contact) \(stored) of \(all) are stored, and nothing is older"]
        }
        guard let least = requested[contact], stored < min(least, all) else { return [] }
        return ["of \(contact) \(stored) are stored, and \(least) were requested"]
    }

    /// Nobody is notified of an older message, and it is not unread.
    private func checkQuiet(_ database: Database) throws -> [String] {
        let notified = try database.prepare(
            "SELECT m.message_id FROM notification n JOIN message m ON m.id = n.message WHERE m.message_id LIKE 'old-%'"
        ).all { "\($0.text()) is notified" }
        let account = try database.prepare("SELECT id FROM account").first { $0.integer() } ?? 0
        let unread = try ids.keys.sorted().flatMap { contact in
            try DisplayedPlaces.unreadRows(in: contact, of: account, in: database).compactMap { row in
                try Message.load(row, from: database)?.messageID
            }
        }.filter { $0.hasPrefix(Self.prefix) }.map { "\($0) is unread" }
        return notified + unread
    }
}
