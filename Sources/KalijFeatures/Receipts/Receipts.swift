import KalijAddress
import KalijHandlers
import KalijCore
import KalijStore
import KalijXML

/// The receipts of one step.
struct Receipts {
    let step: Step
    private var account: Value { .integer(step.account.id) }

    /// The maximum number of receipts sent in a step.
    private static let batchSize: Int64 = 100
    /// The maximum length of the id of a message for which a receipt is stored, in bytes.
    private static let maxIDLength = 1000

    // MARK: From contacts

    /// Handles a receipt: `contact` has received the message sent as `id`. Only the recipient's receipt counts. The message may be in a
    /// gap of the archive.
    func received(for id: String, from contact: String) throws {
        let messages = MessageReader(database: step.database, account: step.account.id)
        if let row = try messages.sent(id, to: contact) { return try MessageWriter(step: step).delivered(row) }
        guard id.utf8.count <= Self.maxIDLength else { return }
        try step.database.run(
            "INSERT OR IGNORE INTO early_receipt(account, contact, message) VALUES (?, ?, ?)",
            [account, .text(contact), .text(id)])
        guard step.database.changes > 0 else { return }
        try step.database.run(
            "DELETE FROM early_receipt WHERE id <= (SELECT max(id) FROM early_receipt) - ?",
            [.integer(EngineLimits.keptRows)])
    }

    /// Handles a stored message of another device, whose receipt may have been received before.
    func stored(_ message: Message, called id: String) throws {
        try step.database.run(
            "DELETE FROM early_receipt WHERE account = ? AND contact = ? AND message = ?",
            [account, .text(message.conversation), .text(id)])
        if step.database.changes > 0 { try MessageWriter(step: step).delivered(message.id) }
    }

    // MARK: From this client

    /// Handles a stored message with a request for a receipt. The receipt for a live message is sent in the step of the message. The
    /// receipt for a message from the archive is sent after the archive was read to its end, because another client may have sent it.
    /// Older history has no receipts (section 5.5), nor do carbon copies, whose receipts are sent by the other client.
    func requested(by message: IncomingMessage) throws {
        guard message.direction == .incoming, message.source != .carbon, !message.isOlder,
            message.isShown || message.isNeeded,
            ["chat", "normal"].contains(message.type), !message.messageID.isEmpty
        else { return }
        if message.source == .archive {
            guard try message.sentAt >= ServerTime(step: step).since else { return }
            return try enqueue(message.messageID, to: message.conversation, ready: false)
        }
        guard try !send(message.messageID, to: .received(message.conversation)) else { return }
        try enqueue(message.messageID, to: message.conversation, ready: true)
    }

    /// Whether the receipt was sent by this client: then the copy settles the receipt's row.
    func isOurs(_ receipt: IncomingMessage) throws -> Bool {
        guard let id = receipt.ownID else { return false }
        return try Message.accepted(id, by: step.account, in: step.database) != nil
    }

    /// Records that the receipt was sent, by any client of the account.
    func recordSent(for id: String, to contact: String) throws {
        try step.database.run(
            "DELETE FROM owed_receipt WHERE account = ? AND contact = ? AND message = ?",
            [account, .text(contact), .text(id)])
    }

    /// Sends receipts for the messages of the archive, except those for which another client has sent one.
    func archiveRead() throws {
        try step.database.run("UPDATE owed_receipt SET ready = 1 WHERE account = ? AND ready = 0", [account])
        try sendPending()
    }

    /// Sends receipts that are ready, oldest first: a portion in one step, the rest in later steps. Receipts wait until the contacts
    /// are loaded.
    func sendPending() throws {
        let owed = try step.database.statement(
            "SELECT id, contact, message FROM owed_receipt WHERE account = ? AND ready = 1 ORDER BY id LIMIT ?"
        ).all([account, .integer(Self.batchSize)]) {
            (row: $0.integer("id"), contact: $0.text("contact"), message: $0.text("message"))
        }
        var isWaiting = false
        for receipt in owed {
            guard try send(receipt.message, to: .received(receipt.contact)) else {
                isWaiting = true
                continue
            }
            try step.database.run("DELETE FROM owed_receipt WHERE id = ?", [.integer(receipt.row)])
        }
        if owed.count == Self.batchSize, !isWaiting { try step.schedule(ReceiptsContinuation(), after: .zero) }
    }

    /// The number of waiting receipts of an account, counted up to a limit.
    static func pendingCount(by account: Account, in database: Database) throws -> Int64 {
        try database.statement(
            "SELECT count(*) FROM (SELECT 1 FROM owed_receipt WHERE account = ? AND ready IN (0, 1) LIMIT 1000)"
        ).first([.integer(account.id)]) { $0.integer() } ?? 0
    }

    private func enqueue(_ id: String, to contact: String, ready: Bool) throws {
        try step.database.run(
            "INSERT OR IGNORE INTO owed_receipt(account, contact, message, ready) VALUES (?, ?, ?, ?)",
            [account, .text(contact), .text(id), .integer(ready ? 1 : 0)])
    }

    /// Sends a receipt, if `contact` may learn that the account is online (section 8).
    /// - Returns: false if that is undetermined.
    private func send(_ id: String, to contact: JID) throws -> Bool {
        switch try DisclosurePolicy(step: step).verdict(.receipts, to: contact) {
        case .may: break
        case .mayNot: return true
        case .unknown: return false
        }
        let receipt = NewElement("received", in: ReceiptsFeature.namespace, ["id": id]).element
        // A receipt for an id that exceeds the server's limit fails.
        try OutgoingStanza(
            hidden: [receipt], to: contact, id: OutgoingID(nil).text, isRepeatable: true
        ).enqueue(in: step, sentAt: step.now)
        step.flush(answers: 1)
        return true
    }
}

/// Sends further receipts after a step that has sent a full portion.
struct ReceiptsContinuation: Handler {
    static let name = "receipts.more"

    func call(_: Void, in step: Step) throws { try Receipts(step: step).sendPending() }
}
