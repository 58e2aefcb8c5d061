import CSimulatedMachine
import KalijStore
import KalijXML

extension Violation.Promise {
    /// Delivery receipts (XEP-0184).
    static let receipts = Violation.Promise("receipts")
}

/// Contacts that ask for receipts, and give receipts.
final class SimulatedReceipts: SimulatedFeature {
    private static let namespace = "urn:xmpp:receipts"

    unowned let server: SimulatedServer
    /// The receipts of the client's, by recipient and id of the message.
    private var given: [String: Int] = [:]
    /// The client's messages for which a receipt was sent, by their id.
    private var answered: Set<String> = []
    /// The contacts that the client has written to.
    private var writtenTo: Set<String> = []

    init(_ server: SimulatedServer) { self.server = server }

    /// The receipts of another device of the account, by the number of the message: when they can be seen in the archive.
    private var elsewhere: [Int: Int64] = [:]
    /// Whether another device is online, and gives receipts.
    private var isElsewhere: Bool { server.world.isOther }

    /// Another device, where there is one, answers.
    func filed(_ message: ArchivedMessage) {
        guard isElsewhere, message.isKept else { return }
        let contact = String(message.from.prefix { $0 != "/" })
        server.world.after(server.world.random.pick(1000...3_000_000)) { [weak self] in
            guard let self else { return }
            let receipt = server.messages.receive(
                "<received xmlns='\(Self.namespace)' id='\(message.messageID)'/><store xmlns='urn:xmpp:hints'/>",
                from: server.account + "/phone", to: contact)
            elsewhere[message.number] = receipt.visible
        }
    }

    func additions(to body: String, from sender: String) -> String { "<request xmlns='\(Self.namespace)'/>" }

    func sent(_ message: Element, by session: ServerSession) {
        guard let id = message["id"], let recipient = message["to"] else { return }
        if let received = message.child("received", Self.namespace)?["id"] {
            given["\(recipient) \(received)", default: 0] += 1
            return server.messages.file(message, body: nil, of: session)
        }
        if message.child("body", "jabber:client") != nil { writtenTo.insert(recipient) }
        guard message.child("request", Self.namespace) != nil, recipient != SimulatedMessages.nobody else { return }
        let receipt = "<received xmlns='\(Self.namespace)' id='\(id)'/>"
        let body = message.child("body", "jabber:client")?.text ?? ""
        let isRefused = body.hasPrefix("out-") && body.utf8.count.isMultiple(of: 2)
        let resource = session.resource
        server.world.after(server.world.random.pick(1000...500_000)) { [weak self] in
            self?.answered.insert(id)
            if isRefused { self?.server.messages.giveBack(id, of: recipient, to: resource) }
            self?.server.messages.receive(receipt, from: recipient + "/client")
        }
    }

    func check(_ database: Database, of simulation: Simulation) throws -> [Violation] {
        try checkGiven(database) + checkTold(database)
    }

    /// A contact that may know that the account is online gets one receipt for each message; others get none. After a lost
    /// session, or after the loss of commits without a sync, a receipt may come again.
    private func checkGiven(_ database: Database) throws -> [Violation] {
        let isRepeated = server.begun > 1 || machine_counts().power_failures > 0
        let messages = try StoredMessage.all(in: database, server)
        let stored = Set(messages.lazy.filter { $0.direction == "in" }.compactMap(\.body))
        let archive = server.feature(SimulatedArchive.self).archive
        // Also a message that the server has never seen: the user has written to the contact.
        let addressed = Set(messages.lazy.filter { $0.direction == "out" && $0.body != nil }.map(\.recipient))
        return server.archive.messages.compactMap { message in
            guard !message.from.hasPrefix(server.account), let body = message.body, stored.contains(body) else {
                return nil
            }
            let contact = String(message.from.prefix { $0 != "/" })
            let count = given["\(contact) \(message.messageID)"] ?? 0
            // The client may have read the message in the archive together with the other device's receipt.
            if let seen = elsewhere[message.number], let shown = archive.firstShown[message.number],
                !server.deliveredMessages.contains(message.number), seen <= shown, archive.gone.isEmpty,
                archive.unplaced.isEmpty,
                count > 0
            {
                return Violation(.receipts, "\(body) got a receipt from here, and had one from another device")
            }
            let isSubscriber = contact == SimulatedContacts.subscriber
            let isOwed = isSubscriber && elsewhere[message.number] == nil
            let may = isSubscriber || writtenTo.contains(contact) || addressed.contains(contact)
            guard count < (isOwed ? 1 : 0) || count > (may ? 1 : 0) && !(may && isRepeated) else { return nil }
            return Violation(.receipts, "\(body) of \(contact) got \(count) receipts")
        }
    }

    /// The application is told once of each message for which a receipt has come.
    private func checkTold(_ database: Database) throws -> [Violation] {
        let rows = try database.prepare(
            """
            SELECT m.origin_id, m.body, count(e.number) AS told FROM message m
            LEFT JOIN event e ON e.message = m.id AND e.kind = 'delivered'
            WHERE m.direction = 'out' AND m.received_at IS NULL AND m.shown AND m.type = 'chat' GROUP BY m.id
            """
        ).all { (id: $0.text("origin_id"), body: $0.optionalText("body") ?? "-", told: Int($0.integer("told"))) }
        // A receipt forgotten by the archive before anybody asked has perhaps not come.
        let isForgotten = !server.archive.gone.isEmpty
        return rows.compactMap { row in
            let expected = answered.contains(row.id) ? 1 : 0
            guard row.told != expected, !(isForgotten && row.told == 0) else { return nil }
            return Violation(.receipts, "\(row.body) was told as delivered \(row.told) times")
        }
    }
}
