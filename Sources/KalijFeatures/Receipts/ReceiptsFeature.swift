import KalijHandlers
import KalijCore
import KalijStore
import KalijXML

/// Delivery receipts (XEP-0184): requested with each chat message, and sent to contacts that may learn that the account is online.
enum ReceiptsFeature: Feature, SessionObserver, ArchiveObserver, MessageProcessor, StoredMessageObserver,
    OutgoingMessageDecorator
{
    static let name = "receipts"
    static let namespace = "urn:xmpp:receipts"
    static let announced = [namespace]
    static let migrations = [
        Migration(
            "receipts/1",
            """
            -- The messages of the account for which a receipt has come.
            CREATE TABLE receipt(message INTEGER PRIMARY KEY, at INTEGER NOT NULL);
            -- Receipts that wait.
            CREATE TABLE owed_receipt(
                id INTEGER PRIMARY KEY,
                account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
                contact TEXT NOT NULL,          -- a bare address
                message TEXT NOT NULL,          -- the id that the contact gave the message
                ready INTEGER NOT NULL);        -- 0: until the archive was read to its end; 1: until the contacts are known
            CREATE UNIQUE INDEX owed_receipt_message ON owed_receipt(account, contact, message);
            CREATE INDEX owed_receipt_ready ON owed_receipt(account, ready);
            """),
        Migration(
            "receipts/2",
            """
            -- From now on this is a state of the message.
            UPDATE message SET state = 'delivered', settled = 1
                WHERE id IN (SELECT message FROM receipt) AND state IN ('queued', 'sent', 'acked');
            DROP TABLE receipt;
            -- Receipts for messages that are not here, or not yet.
            CREATE TABLE early_receipt(
                id INTEGER PRIMARY KEY,
                account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
                contact TEXT NOT NULL,          -- a bare address
                message TEXT NOT NULL);         -- the id of the message
            CREATE UNIQUE INDEX early_receipt_message ON early_receipt(account, contact, message);
            """),
    ]
    static var handlers: [any Handler<Step>.Type] { [ReceiptsContinuation.self] }
    static func status(of account: Account, in database: Database) throws -> [EventField] {
        [EventField(.receiptsOwed, .integer(try Receipts.pendingCount(by: account, in: database)))]
    }

    // MARK: Receipts from contacts

    static func decorate(_ message: Element, in step: Step) { message.add(Element("request", xmlns: namespace)) }

    /// Handles a receipt of a contact, or the copy of one that a client of the account has sent. Receipts in rooms are ignored (section
    /// 5.3).
    static func process(_ message: inout IncomingMessage, in step: Step) throws {
        guard message.type != "groupchat", let id = message.element.child("received", namespace)?["id"] else { return }
        let receipts = Receipts(step: step)
        switch message.direction {
        case .incoming:
            message.dropUnlessNeeded()
            try receipts.received(for: id, from: message.conversation)
        case .outgoing:
            if try receipts.isOurs(message) { message.isKept = true } else { message.dropUnlessNeeded() }
            try receipts.recordSent(for: id, to: message.conversation)
        }
    }

    // MARK: Receipts from this client

    static func didStore(_ message: Message, from incoming: IncomingMessage, in step: Step) throws {
        if message.direction == .outgoing {
            return try Receipts(step: step).stored(message, called: incoming.messageID)
        }
        guard incoming.element.child("request", namespace) != nil else { return }
        try Receipts(step: step).requested(by: incoming)
    }

    static func didBindSession(in step: Step) throws { try Receipts(step: step).sendPending() }
    static func didSyncArchive(in step: Step) throws { try Receipts(step: step).archiveRead() }
    static func didLoadContacts(in step: Step) throws { try Receipts(step: step).sendPending() }
}

extension EventKey {
    static let receiptsOwed = EventKey(
        "receipts_owed", "receipts that wait until the archive was read to its end, or the contacts are known")
}
