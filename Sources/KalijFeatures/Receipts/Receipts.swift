import KalijAddress
import KalijHandlers
import KalijSteps
import KalijStore
import KalijXML

/// The receipts of one step.
struct Receipts {
    let step: Step
    private var account: Value { .integer(step.account.id) }

    /// How many receipts a step gives at most.
    private static let portion: Int64 = 100
    /// The longest id of a message for which a receipt is kept, in bytes.
    private static let longestID = 1000

    // MARK: Of others

    /// `contact` has got the message sent as `id`. Only the recipient's word counts. The message may be in a gap of the archive.
    func came(for id: String, from contact: String) throws {
        let messages = MessageReader(database: step.database, account: step.account.id)
        if let row = try messages.sent(id, to: contact) { return try MessageWriter(step: step).delivered(row) }
        guard id.utf8.count <= Self.longestID else { return }
        try step.database.run(
            "INSERT OR IGNORE INTO early_receipt(account, contact, message) VALUES (?, ?, ?)",
            [account, .text(contact), .text(id)])
        guard step.database.changes > 0 else { return }
        try step.database.run(
            "DELETE FROM early_receipt WHERE id <= (SELECT max(id) FROM early_receipt) - ?",
            [.integer(EngineLimits.keptRows)])
    }

    /// A message of another device's was stored; perhaps its receipt came before.
    func stored(_ message: Message, called id: String) throws {
        try step.database.run(
            "DELETE FROM early_receipt WHERE account = ? AND contact = ? AND message = ?",
            [account, .text(message.conversation), .text(id)])
        if step.database.changes > 0 { try MessageWriter(step: step).delivered(message.id) }
    }

    // MARK: Of this client

    /// A stored message asks for a receipt. A live message gets the receipt in the step of the message. A message from the
    /// archive gets the receipt after the archive was read to its end, because another client may have given the receipt. Older
    /// history gets none (section 5.5), nor does a carbon copy: that receipt is the other client's.
    func asked(by message: IncomingMessage) throws {
        guard message.direction == .incoming, message.source != .carbon, !message.isOlder,
            message.isShown || message.isNeeded,
            ["chat", "normal"].contains(message.type), !message.messageID.isEmpty
        else { return }
        if message.source == .archive {
            guard try message.sentAt >= ServerTime(step: step).since else { return }
            return try owe(message.messageID, to: message.conversation, ready: false)
        }
        guard try !give(message.messageID, to: .received(message.conversation)) else { return }
        try owe(message.messageID, to: message.conversation, ready: true)
    }

    /// Whether the receipt was given here: then the copy settles the receipt's row.
    func isOurs(_ receipt: IncomingMessage) throws -> Bool {
        guard let id = receipt.ownID else { return false }
        return try Message.accepted(id, by: step.account, in: step.database) != nil
    }

    /// Another client of the account has given the receipt, or this client.
    func wasGiven(for id: String, to contact: String) throws {
        try step.database.run(
            "DELETE FROM owed_receipt WHERE account = ? AND contact = ? AND message = ?",
            [account, .text(contact), .text(id)])
    }

    /// Gives receipts for the messages of the archive, except messages answered by another client.
    func archiveRead() throws {
        try step.database.run("UPDATE owed_receipt SET ready = 1 WHERE account = ? AND ready = 0", [account])
        try giveOwed()
    }

    /// Gives ready receipts, oldest first: a portion in one step, the rest in later steps. Receipts wait until the contacts are
    /// known.
    func giveOwed() throws {
        let owed = try step.database.statement(
            "SELECT id, contact, message FROM owed_receipt WHERE account = ? AND ready = 1 ORDER BY id LIMIT ?"
        ).all([account, .integer(Self.portion)]) {
            (row: $0.integer("id"), contact: $0.text("contact"), message: $0.text("message"))
        }
        var isWaiting = false
        for receipt in owed {
            guard try give(receipt.message, to: .received(receipt.contact)) else {
                isWaiting = true
                continue
            }
            try step.database.run("DELETE FROM owed_receipt WHERE id = ?", [.integer(receipt.row)])
        }
        if owed.count == Self.portion, !isWaiting { try step.schedule(ReceiptsContinuation(), after: .zero) }
    }

    /// How many receipts of an account wait. Only up to a limit is counted.
    static func owed(by account: Account, in database: Database) throws -> Int64 {
        try database.statement(
            "SELECT count(*) FROM (SELECT 1 FROM owed_receipt WHERE account = ? AND ready IN (0, 1) LIMIT 1000)"
        ).first([.integer(account.id)]) { $0.integer() } ?? 0
    }

    private func owe(_ id: String, to contact: String, ready: Bool) throws {
        try step.database.run(
            "INSERT OR IGNORE INTO owed_receipt(account, contact, message, ready) VALUES (?, ?, ?, ?)",
            [account, .text(contact), .text(id), .integer(ready ? 1 : 0)])
    }

    /// Gives a receipt, if `contact` may know that the account is online (section 8).
    /// - Returns: false if it is unknown whether `contact` may know.
    private func give(_ id: String, to contact: JID) throws -> Bool {
        switch try DisclosurePolicy(step: step).verdict(.receipts, to: contact) {
        case .may: break
        case .mayNot: return true
        case .unknown: return false
        }
        let receipt = Element("received", xmlns: ReceiptsFeature.namespace, attributes: ["id": id])
        // A receipt for an id that is too long for the server fails.
        try OutgoingStanza(
            hidden: [receipt], to: contact, id: OutgoingID(nil).text, isRepeatable: true
        ).storeOrFail(in: step, sentAt: step.now)
        step.flush(answers: 1)
        return true
    }
}

/// Gives further receipts, after a step that gave a full portion.
struct ReceiptsContinuation: Handler {
    static let name = "receipts.more"

    func call(_: Void, in step: Step) throws { try Receipts(step: step).giveOwed() }
}
