import KalijAddress
import KalijHandlers
import KalijRatchet
import KalijCore
import KalijStore
import KalijXML

/// The user's messages that are not encrypted yet, and the conversations whose messages may be sent.
///
/// A message is encrypted in the step that enqueues it for sending, for the devices at that time. Until then it waits here. Later
/// messages of its conversation wait behind it; other conversations are not affected.
struct EncryptionQueue {
    let step: Step
    private var account: Value { .integer(step.account.id) }
    private var database: Database { step.database }

    /// The number of messages that are encrypted in a step.
    private static let batchSize: Int64 = 10
    /// How long missing keys are requested, and at what interval.
    private static let (timeout, pause) = (Duration.seconds(24 * 3600), Duration.seconds(300))

    struct Waiting {
        let message: Int64
        let isPlain: Bool
        let isRepeatable: Bool
        let stanza: [UInt8]
        let since: Int64
    }

    // MARK: Accepting

    /// Handles a message of the user's that was accepted, in any process.
    /// - Returns: whether the message waits here.
    func accept(_ stanza: AcceptedStanza) throws -> Bool {
        let isForRoom = stanza.element["type"] == "groupchat"
        let conversation = isForRoom ? stanza.recipient.bare.description : try conversation(with: stanza.recipient)
        let isText = stanza.element.child("body", "jabber:client") != nil
        // Receipts and markers are not encrypted: the servers see their ids and times in any case.
        guard isText || MessageOperation.isMeant(by: stanza.element) else { return false }
        let isEncrypted = try requiresEncryption(stanza.privacy, conversation)
        guard try isEncrypted || isAny(in: conversation) else { return false }
        if isEncrypted {
            try check(stanza.recipient, isText)
            MessageOperation.seal(stanza.element)
            try MessageWriter(step: step).set(MessageEncryption(OMEMOVersion.axolotl.namespace), of: stanza.message)
        }
        try database.run(
            """
            INSERT INTO omemo_waiting(message, account, conversation, room, plain, repeatable, stanza, since)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                .integer(stanza.message), account, .text(conversation), .integer(isForRoom ? 1 : 0),
                .integer(isEncrypted ? 0 : 1), .integer(stanza.isRepeatable ? 1 : 0), .blob(stanza.element.bytes()),
                .integer(step.steady.now),
            ])
        try schedule(conversation)
        return true
    }

    private func conversation(with jid: JID) throws -> String {
        try RoomRows(database: database, account: step.account.id).conversation(with: jid)
    }

    private func requiresEncryption(_ privacy: EncryptionPreference, _ conversation: String) throws -> Bool {
        switch privacy {
        case .plain: false
        case .encrypted: true
        case .asConversation: try ConversationEncryption(step: step).isEncrypted(conversation)
        }
    }

    /// - Throws: `IntentFailure` for a room that is not a group, and for contents that 0.3 cannot encrypt.
    private func check(_ recipient: JID, _ isText: Bool) throws {
        guard try isText || EnabledVersions(step: step).usesOMEMO2 else {
            throw IntentFailure(
                "reactions cannot be encrypted (OMEMO 0.3), so none are sent in an encrypted conversation")
        }
        guard let room = try RoomRows(database: database, account: step.account.id).room(recipient) else { return }
        guard recipient.isBare else { throw IntentFailure("private messages in rooms cannot be encrypted") }
        guard room.info.isGroup else { throw IntentFailure(Recipients.openRoom) }
    }

    private func isAny(in conversation: String) throws -> Bool {
        try database.statement("SELECT 1 FROM omemo_waiting WHERE account = ? AND conversation = ? LIMIT 1")
            .first([account, .text(conversation)]) { _ in true } ?? false
    }

    /// Whether a message waits here.
    func isWaiting(_ message: Int64) throws -> Bool {
        try database.statement("SELECT 1 FROM omemo_waiting WHERE message = ?")
            .first([.integer(message)]) { _ in true } ?? false
    }

    /// The conversation in which a message waits here; nil if it does not.
    static func conversation(of message: Int64, in database: Database) throws -> String? {
        try database.statement("SELECT conversation FROM omemo_waiting WHERE message = ?")
            .first([.integer(message)]) { $0.text() }
    }

    // MARK: Scheduling

    /// Schedules an attempt to send the messages of `conversation`.
    func schedule(_ conversation: String) throws {
        try database.run(
            "INSERT OR IGNORE INTO omemo_turn(account, conversation) VALUES (?, ?)", [account, .text(conversation)])
        step.flush()
    }

    /// Keys were received, or are unavailable: schedules an attempt for all conversations.
    func retryAll() throws {
        try database.run(
            """
            INSERT OR IGNORE INTO omemo_turn(account, conversation)
            SELECT DISTINCT account, conversation FROM omemo_waiting WHERE account = ?
            """, [account])
        if database.changes > 0 { step.flush() }
    }

    /// Whether an attempt to send messages is scheduled and possible.
    static func isAny(of account: Account, in database: Database) throws -> Bool {
        let isTurn = try database.statement(
            """
            SELECT 1 FROM omemo_turn t WHERE account = ?1 AND (
                EXISTS (SELECT 1 FROM omemo_device WHERE account = ?1 AND open = 1)
                OR EXISTS (SELECT 1 FROM omemo_own WHERE account = ?1 AND stage = 'refused' AND problem = ?2)) LIMIT 1
            """
        ).first([.integer(account.id), .text(KeyPublicationRow.withoutNodes)]) { _ in true }
        guard isTurn ?? false else { return false }
        return try OutboundQueue(database: database, account: account.id).holding() == .none
    }

    /// Whether messages wait for something else than a later request for keys, or the user.
    static func isWaiting(of account: Account, in database: Database) throws -> Bool {
        guard try KeyPublicationRow.load(account.id, .axolotl, from: database)?.state.stage != .refused else {
            return false
        }
        return try database.statement(
            """
            SELECT 1 FROM omemo_waiting w LEFT JOIN omemo_conversation c
                ON c.account = w.account AND c.conversation = w.conversation
            WHERE w.account = ? AND w.room = 0 AND coalesce(c.looking, 0) = 0 AND coalesce(c.blocked, 0) = 0 LIMIT 1
            """
        ).first([.integer(account.id)]) { _ in true } ?? false
    }

    /// Encrypts and queues messages of one scheduled conversation.
    func processNext() throws {
        let conversation = try database.statement(
            """
            DELETE FROM omemo_turn WHERE account = ?1 AND conversation =
                (SELECT conversation FROM omemo_turn WHERE account = ?1 ORDER BY conversation LIMIT 1)
            RETURNING conversation
            """
        ).first([account]) { $0.text() }
        let row = try KeyPublicationRow.load(step.account.id, .axolotl, from: database)
        if let row, row.state.stage == .refused, row.problem == KeyPublicationRow.withoutNodes {
            return try failAll(Reason(.noKeysAtServer))
        }
        guard let conversation, let own = try OwnDevice.load(step.account.id, from: database), own.isOpen else {
            return
        }
        try leave(conversation, own)
    }

    private func leave(_ conversation: String, _ own: OwnDevice) throws {
        guard try !ConversationEncryption(step: step).isBlocked(conversation) else { return }
        let room = try RoomRows(database: database, account: step.account.id).room(.received(conversation))
        let outbox = room.map { RoomOutbox(step: step, room: $0) }
        // A room's messages are sent by its own outbox as soon as the account is in the room.
        if let outbox, try !outbox.isOpen { return }
        let waiting = try waiting(in: conversation)
        var left = 0
        for message in waiting {
            guard try leave(message, conversation, room, own) else { break }
            left += 1
        }
        if left > 0, let outbox { try outbox.flush() }
        if left > 0 { step.flush() }
        if left == Int(Self.batchSize) { try schedule(conversation) }
    }

    private func waiting(in conversation: String) throws -> [Waiting] {
        try database.statement(
            """
            SELECT message, plain, repeatable, stanza, since FROM omemo_waiting WHERE account = ? AND conversation = ?
            ORDER BY message LIMIT ?
            """
        ).all([account, .text(conversation), .integer(Self.batchSize)], Self.row)
    }

    private static func row(_ row: Row) -> Waiting {
        Waiting(
            message: row.integer("message"), isPlain: row.bool("plain"), isRepeatable: row.bool("repeatable"),
            stanza: row.blob("stanza"), since: row.integer("since"))
    }

    // MARK: Sending

    /// - Returns: false if the message has to wait.
    private func leave(
        _ waiting: Waiting, _ conversation: String, _ room: RoomRow?, _ own: OwnDevice
    ) throws -> Bool {
        let stanza = try Element.parse(waiting.stanza)
        guard !waiting.isPlain else {
            try forget(waiting.message)
            return try queue(stanza.bytes(in: "jabber:client"), waiting, room)
        }
        switch try MessageEncryptor(step: step, own: own).encrypt(stanza, in: conversation, room) {
        case .encrypted(let sealed):
            try forget(waiting.message)
            try MessageWriter(step: step).set(
                MessageEncryption(
                    sealed.weakest.namespace, device: own.id, trust: sealed.trust, leftOut: sealed.leftOut),
                of: waiting.message)
            return try queue(sealed.bytes, waiting, room)
        case .failed(let reason): return try fail(waiting, reason)
        case .waits(nil): return false
        case .waits(let reason?):
            if step.steady.now - waiting.since >= Self.timeout.milliseconds {
                return try fail(waiting, Reason(.keysNotHad, reason))
            }
            if try ConversationEncryption(step: step).beginLookup(conversation) {
                try step.schedule(KeyLookupTimer(conversation: conversation), after: Self.pause)
            }
            return false
        }
    }

    private func queue(_ bytes: [UInt8], _ waiting: Waiting, _ room: RoomRow?) throws -> Bool {
        if let room {
            try RoomOutbox(step: step, room: room).set(bytes, of: waiting.message)
            return true
        }
        do {
            try OutboundQueue(database: database, account: step.account.id)
                .append(bytes, message: waiting.message, isRepeatable: waiting.isRepeatable)
        } catch let error as StanzaTooLong { try MessageWriter(step: step).fail(waiting.message, Reason(error)) }
        return true
    }

    private func fail(_ waiting: Waiting, _ reason: Reason) throws -> Bool {
        try forget(waiting.message)
        try MessageWriter(step: step).fail(waiting.message, reason)
        return true
    }

    /// Removes the message from the waiting ones: it is sent now, or never.
    func forget(_ message: Int64) throws {
        try database.run("DELETE FROM omemo_waiting WHERE message = ?", [.integer(message)])
    }

    /// Fails all messages to be encrypted, because encryption is impossible.
    func failAll(_ reason: Reason) throws {
        let rows = try database.statement("DELETE FROM omemo_waiting WHERE account = ? AND plain = 0 RETURNING message")
            .all([account]) { $0.integer() }
        for row in rows.sorted() { try MessageWriter(step: step).fail(row, reason) }
        try leavePlain()
    }

    /// Sends the unencrypted messages that have waited behind encrypted ones, which were removed.
    private func leavePlain() throws {
        let rows = try database.statement(
            """
            SELECT conversation, message, plain, repeatable, stanza, since FROM omemo_waiting WHERE account = ?
            ORDER BY message
            """
        ).all([account]) { ($0.text("conversation"), Self.row($0)) }
        for (conversation, waiting) in rows {
            let room = try RoomRows(database: database, account: step.account.id).room(.received(conversation))
            try forget(waiting.message)
            _ = try queue(Element.parse(waiting.stanza).bytes(in: "jabber:client"), waiting, room)
        }
        if !rows.isEmpty { step.flush() }
    }

    fileprivate func retry(_ conversation: String) throws {
        try ConversationEncryption(step: step).endLookup(conversation)
        if try isAny(in: conversation) { try schedule(conversation) }
    }
}

/// Requests the missing keys of a conversation again.
struct KeyLookupTimer: Handler {
    static let name = "omemo.keys-again"
    let conversation: String

    func call(_: Void, in step: Step) throws { try EncryptionQueue(step: step).retry(conversation) }
}
