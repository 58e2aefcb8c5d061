import KalijAddress
import KalijCore
import KalijStore
import KalijStream
import KalijText
import KalijXML

/// Classifies the messages of a room: live, from its history or from its archive.
struct RoomMessageClassifier {
    let step: Step
    let room: RoomRow

    /// Status codes that indicate a changed configuration (section 10.2.1), except the end of the room's log.
    private static let changes: Set = [104, 170, 171, 172, 173, 174]
    /// The maximum length in bytes.
    private static let maxSubjectLength = 10_000

    /// Classifies a groupchat message of the room.
    func arrived(_ message: inout IncomingMessage, _ row: inout RoomRow) throws {
        if let target = Moderation.target(of: message.element) { return try moderated(target, &message) }
        if message.source == .live { try live(&message, &row) }
        guard message.isKept else { return }
        // Messages sent before the account first entered the room are history. Stamps may lack the fraction of a second.
        message.isHistory = room.since.map { message.sentAt < $0 / 1000 * 1000 } ?? true
        message.isOurs = isOurs(message)
        if message.isOurs ?? false {
            message.direction = .outgoing
            try findReflected(&message)
        } else {
            message.author = try author(of: message)?.text
        }
    }

    /// Only the room itself can retract a message: the element is ignored if an occupant sends it (XEP-0425 section 5).
    private func moderated(_ id: String, _ message: inout IncomingMessage) throws {
        (message.isKept, message.isShown) = (false, false)
        guard message.sender.isBare else { return }
        let row = try step.database.statement(
            "SELECT id FROM message WHERE stanza_id = ? AND account = ? AND archive = ? LIMIT 1"
        ).first([.text(id), .integer(step.account.id), .text(room.jid.description)]) { $0.integer() }
        if let row { try MessageOperations(step: step).moderated(row) }
    }

    /// Classifies a message other than a groupchat message. A private message with an occupant of a room, also one sent or received by
    /// another client of the account, belongs neither to the room's conversation (section 7.5) nor to the conversation with a person.
    static func arrivedPrivately(_ message: inout IncomingMessage, in step: Step) throws {
        let other = message.direction == .incoming ? message.sender : message.recipient
        guard other.isPrepared, let nick = other.resource else { return }
        let room = try RoomRows(database: step.database, account: step.account.id).room(other)
        guard try room != nil || isMarked(message, other, in: step) else { return }
        message.conversation = other.description
        guard let room, message.direction == .incoming, message.source == .live,
            !isHistory(message.element, of: room.jid)
        else {
            return
        }
        message.author = try RoomMessageClassifier(step: step, room: room).occupant(nick)?.text
    }

    /// Whether the message is marked as a private message of a room (section 7.5) that only another client of the account has joined. A
    /// known correspondent is never treated as an occupant, whatever the message contains: otherwise a message could be moved out of an
    /// encrypted conversation.
    private static func isMarked(_ message: IncomingMessage, _ other: JID, in step: Step) throws -> Bool {
        guard message.element.child("x", RoomCoordinator.user) != nil, other.bare != step.account.jid else {
            return false
        }
        guard message.direction == .incoming else { return true }
        let messages = MessageReader(database: step.database, account: step.account.id)
        return try RosterRows(database: step.database, account: step.account.id).contact(other) == nil
            && !messages.hasWritten(to: other.bare.description)
    }

    private func live(_ message: inout IncomingMessage, _ row: inout RoomRow) throws {
        // Only occupants receive live messages of a room.
        guard room.stay.state.isIn else {
            message.isKept = false
            return
        }
        let rooms = RoomCoordinator(step: step)
        try rooms.heard(&row)
        let element = message.element
        // A subject message has neither a body, not even an empty one, nor a thread (section 8.1).
        let isMessage = ["body", "thread"].contains { element.child($0, "jabber:client") != nil }
        if let subject = element.childInOwnLanguage("subject", "jabber:client"), !isMessage {
            message.isKept = false
            try applySubject(subject.text, &row)
        }
        let x = element.child("x", RoomCoordinator.user)
        let statuses = Set((x?.children("status") ?? []).compactMap { $0["code"].flatMap { Int($0) } })
        if message.sender.isBare, !statuses.isDisjoint(with: Self.changes) { try rooms.configurationChanged(room) }
        guard message.isKept, Self.isHistory(element, of: room.jid) else { return }
        // Without an archive, the history reveals whether messages were missed.
        if try isKnown(message) {
            if !row.overlaps {
                row.overlaps = true
                try rooms.rows.save(row)
            }
            if !isOurs(message) { message.isKept = false }
        }
    }

    /// The subject is the last stanza of the join sequence (section 7.2.15).
    private func applySubject(_ subject: String, _ row: inout RoomRow) throws {
        let text = subject.isEmpty ? nil : subject.cut(to: Self.maxSubjectLength)
        if text?.exact != row.subject?.exact {
            row.subject = text
            step.emit(RoomInfoChanged(row))
            try RoomRows(database: step.database, account: step.account.id).save(row)
        }
        try RoomCoordinator(step: step).handle(.subjectReceived, &row)
    }

    /// Only a delay stamped by the room marks history: the account's server also stamps what it redelivers after a resume.
    private static func isHistory(_ message: Element, of room: JID) -> Bool {
        message.children("delay", "urn:xmpp:delay").contains { $0["from"].map { JID.received($0).bare } == room }
    }

    /// Whether a message of the history is already stored.
    private func isKnown(_ message: IncomingMessage) throws -> Bool {
        guard let id = message.ownID else { return false }
        return try step.database.statement(
            """
            SELECT 1 FROM message WHERE message_id = ? AND account = ? AND conversation = ?
                AND (body IS ? OR ? AND encryption IS NOT NULL) AND (sender = ? OR direction = 'out') LIMIT 1
            """
        ).first([
            .text(id), .integer(step.account.id), .text(room.jid.description), .optional(message.body),
            .integer(message.encryption == nil ? 0 : 1), .text(message.sender.description),
        ]) { _ in true } ?? false
    }

    // MARK: Authorship

    /// The author of another occupant's message, as far as it is proven. In non-anonymous rooms an archive adds the address (XEP-0313
    /// section 7). A live message never has it; the occupant's presence determines the author.
    private func author(of message: IncomingMessage) throws -> RoomAuthor? {
        guard let nick = message.sender.resource else { return nil }
        let isLive = message.source == .live && !Self.isHistory(message.element, of: room.jid)
        let archived = message.source == .archive && room.info.isNonAnonymous
        if archived, let jid = Self.shownAddress(in: message.element) { return .address(jid) }
        let occupant = isLive ? try self.occupant(nick) : nil
        if case .address? = occupant { return occupant }
        if room.info.hasOccupantIDs, let id = OccupantID.of(message.element) { return .occupant(id) }
        return occupant
    }

    /// The current holder of the nickname.
    private func occupant(_ nick: String) throws -> RoomAuthor? {
        let occupants = Occupants(step: step, room: room)
        if room.info.isNonAnonymous, let jid = try occupants.occupant(nick)?.jid { return .address(jid) }
        return try occupants.stay(of: nick).map { .stay($0) }
    }

    /// A message meant for the author of the last message in a private conversation must not be sent to a later holder of the nickname.
    /// Only addresses prove that the holder has changed; without them the message is sent.
    /// - Throws: `IntentFailure`
    func checkHolder(of nick: String, _ conversation: String) throws {
        guard case .address(let holder)? = try occupant(nick) else { return }
        let last = try step.database.statement(
            """
            SELECT author FROM message WHERE account = ? AND conversation = ? AND shown = 1 AND direction = 'in'
                AND author IS NOT NULL ORDER BY position DESC LIMIT 1
            """
        ).first([.integer(step.account.id), .text(conversation)]) { $0.text() }
        guard let partner = last.flatMap(RoomAuthor.address(of:)), partner.exact != holder.description.exact else {
            return
        }
        throw IntentFailure("\(nick) was \(partner), and is \(holder) now")
    }

    /// The address of the author in an archived message. Only a message with a single `<x/>` is trusted: another one would have been
    /// added by the author.
    private static func shownAddress(in message: Element) -> JID? {
        let extensions = message.children("x", RoomCoordinator.user)
        guard extensions.count == 1, let item = extensions.first?.child("item") else { return nil }
        return item["jid"].map { JID.received($0).bare }
    }

    /// Whether this account has sent the message, from any device: by the address that the room adds, by the occupant id, by the
    /// nickname that the account holds now, or because the room has reflected the message before.
    private func isOurs(_ message: IncomingMessage) -> Bool {
        // An anonymous room adds no address: an address in its messages was written by their author.
        if message.source == .archive, room.info.isNonAnonymous, let shown = Self.shownAddress(in: message.element) {
            return shown == step.account.jid
        }
        if let id = OccupantID.of(message.element), let own = room.occupantID, id.exact == own.exact { return true }
        guard let nick = message.sender.resource else { return false }
        if message.source == .live, !Self.isHistory(message.element, of: room.jid) {
            return nick.exact == room.held?.exact
        }
        return (try? shownBefore(message) != nil || wasSent(message, under: nick)) ?? false
    }

    /// The origin-id of the message sent from this directory that the room has reflected under the same archive id.
    private func shownBefore(_ message: IncomingMessage) throws -> String? {
        guard let id = message.stanzaID else { return nil }
        return try step.database.statement(
            """
            SELECT origin_id FROM message
            WHERE stanza_id = ? AND account = ? AND archive = ? AND direction = 'out' AND received_at IS NULL
            """
        ).first([.text(id), .integer(step.account.id), .text(message.archive)]) { $0.text() }
    }

    /// Whether a message of this directory was sent with this id under this nickname. A failed message has no recorded nickname, so its
    /// id and the present nickname decide; the room had not disclosed the id to anybody else.
    private func wasSent(_ message: IncomingMessage, under nick: String) throws -> Bool {
        guard let id = message.ownID else { return false }
        return try step.database.statement(
            """
            SELECT 1 FROM message m LEFT JOIN room_message r ON r.message = m.id
            WHERE m.account = ?1 AND m.direction = 'out' AND m.origin_id = ?2 AND m.received_at IS NULL
                AND (r.nick = ?3 OR m.state = ?4 AND m.conversation = ?5 AND ?3 = ?6)
            """
        ).first([
            .integer(step.account.id), .text(id), .text(nick), .state(MessageState.failed),
            .text(room.jid.description), .text(room.held ?? room.nick),
        ]) { _ in true } ?? false
    }

    /// Finds the sent message that a reflection belongs to if a gateway has dropped or replaced the id (section 7.4): the message that
    /// the room has shown under the same archive id, or else the oldest outstanding message with the same text.
    private func findReflected(_ message: inout IncomingMessage) throws {
        if let shown = try shownBefore(message) {
            message.reflects = shown
            return
        }
        guard let body = message.body, try message.ownID == nil || isRenamed(message) else { return }
        message.reflects = try step.database.statement(
            """
            SELECT m.origin_id FROM room_message r CROSS JOIN message m ON m.id = r.message
            WHERE r.account = ? AND r.room = ? AND r.state <> 0 AND m.body = ? ORDER BY r.message LIMIT 1
            """
        ).first([.integer(step.account.id), .text(room.jid.description), .text(body)]) { $0.text() }
    }

    /// Whether this may be a message of this directory under another id. Another client of the account would have added an origin-id.
    private func isRenamed(_ message: IncomingMessage) throws -> Bool {
        guard !room.info.keepsIDs, message.originID == nil, let id = message.ownID else { return false }
        return try step.database.statement(
            "SELECT 1 FROM message WHERE account = ? AND direction = 'out' AND origin_id = ? AND received_at IS NULL"
        ).first([.integer(step.account.id), .text(id)]) { _ in false } ?? true
    }

    // MARK: Errors

    /// Handles an error in response to a message to a room.
    /// - Returns: whether the error was handled; otherwise the message has failed.
    static func handleError(_ message: Element, in step: Step) throws -> Bool {
        guard let from = message["from"].map(JID.received), let id = message["id"],
            let error = StanzaError(message), var room = try RoomCoordinator(step: step).rows.room(from)
        else { return false }
        let known = try step.database.statement(
            """
            SELECT m.id, r.message IS NOT NULL AS owed FROM message m LEFT JOIN room_message r ON r.message = m.id
            WHERE m.account = ? AND m.direction = 'out' AND m.origin_id = ? AND m.received_at IS NULL
                AND m.conversation = ? AND m.type = 'groupchat'
            """
        ).first([.integer(step.account.id), .text(id), .text(room.jid.description)]) {
            ($0.integer("id"), $0.bool("owed"))
        }
        guard let (row, isOwed) = known else { return false }
        // Prosody 0.12 and 13 return this for stanzas that were unacknowledged when a server-to-server connection ended; no room
        // returns it for a message.
        let isSentBack = error.isUnreachable || error.condition == .recipientUnavailable
        // The outcome of the message has been reported already: an intermediate server does not change it.
        guard isOwed else { return isSentBack }
        if error.condition == .notAcceptable {
            guard try RoomOutbox(step: step, room: room).refused(row) else { return false }
            try RoomCoordinator(step: step).handle(.notAcceptable, &room)
            return true
        }
        guard isSentBack else {
            // The room no longer exists, and no presence has reported that.
            if [.itemNotFound, .gone].contains(error.condition) {
                try RoomCoordinator(step: step).handle(.notAcceptable, &room)
            }
            return false
        }
        try RoomOutbox(step: step, room: room).sentBack()
        if !room.info.hasArchive { try RoomCoordinator(step: step).handle(.doubted, &room) }
        return true
    }
}
