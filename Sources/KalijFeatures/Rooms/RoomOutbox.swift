import KalijAddress
import KalijHandlers
import KalijCore
import KalijStore
import KalijXML

import FoundationEssentials

/// The messages to a room that the room has not reflected yet, in order.
///
/// A message is sent only while the account is in the room. It remains outstanding until the room reflects it: an acknowledgement of
/// the account's server proves nothing about another server. A reflection settles the message in ``MessageWriter/settleOwn(_:_:at:)``.
/// After a lost session, and if a reflection is missing, the room's archive decides: a message that is absent there is sent again, in
/// order, and newer messages wait behind it.
struct RoomOutbox {
    enum State: Int64 {
        /// Not sent yet, or to be sent again.
        case waiting = 0
        /// In the queue of the session, or sent and not acknowledged.
        case queued = 1
        /// The account's server has acknowledged the message.
        case acked = 2
        /// It is undetermined whether the message has arrived: the archive is queried.
        case doubtful = 3
    }

    let step: Step
    let room: RoomRow
    private var database: Database { step.database }
    private var key: [Value] { [.integer(step.account.id), .text(room.jid.description)] }
    private var queue: OutboundQueue { OutboundQueue(database: database, account: step.account.id) }

    /// The time within which the room has to reflect a message that the account's server has acknowledged.
    static let timeout = Duration.seconds(30)
    /// How often a room may reject a message because its sender is no occupant.
    private static let maxRefusals: Int64 = 3
    /// The number of messages that are queued at a time.
    private static let batchSize: Int64 = 100

    // MARK: Sending

    /// Stores an accepted message, and sends it if possible.
    func accept(_ stanza: Element, _ message: Int64) throws {
        let bytes = stanza.bytes(in: "jabber:client")
        try queue.check(bytes)
        guard room.isWanted else { throw IntentFailure("you have left the room \(room.jid): `kalij room join`") }
        try database.run(
            "INSERT INTO room_message(message, account, room, stanza) VALUES (?3, ?1, ?2, ?4)",
            key + [.integer(message), .blob(bytes)])
        try flush()
    }

    /// Queues the waiting messages, in order, while the account is in the room and no message is in doubt. No message is sent to a room
    /// whose creation is incomplete.
    func flush() throws {
        guard try isOpen, let held = room.held else { return }
        let waiting = try database.statement(
            "SELECT message, stanza FROM room_message WHERE account = ? AND room = ? AND state = ? ORDER BY message LIMIT ?"
        ).all(key + [.integer(State.waiting.rawValue), .integer(Self.batchSize)]) {
            ($0.integer("message"), $0.blob("stanza"))
        }
        for (message, stanza) in waiting {
            guard
                try !step.hooks.outgoingMessageInterceptors
                    .contains(where: { try $0.defers(message, to: room.jid, in: step) })
            else {
                return step.flush()
            }
            do {
                try queue.append(stanza, groupchat: message)
                try set(.queued, message, nick: held)
            } catch let error as StanzaTooLong { try MessageWriter(step: step).fail(message, Reason(error)) }
        }
        guard !waiting.isEmpty else { return }
        step.flush()
        if waiting.count == Int(Self.batchSize) { try flush() }
    }

    /// Whether a waiting message may be sent now.
    var isOpen: Bool {
        get throws {
            try room.canSend && first(.doubtful) == nil
        }
    }

    /// Replaces the stanza that is sent for the message, now and at each repetition.
    func set(_ stanza: [UInt8], of message: Int64) throws {
        try database.run("UPDATE room_message SET stanza = ? WHERE message = ?", [.blob(stanza), .integer(message)])
    }

    private func set(_ state: State, _ message: Int64, nick: String? = nil) throws {
        try database.run(
            "UPDATE room_message SET state = ?, nick = coalesce(?, nick), acked_at = NULL WHERE message = ?",
            [.integer(state.rawValue), .optional(nick), .integer(message)])
    }

    private func first(_ state: State) throws -> Int64? {
        try database.statement(
            "SELECT min(message) FROM room_message WHERE account = ? AND room = ? AND state = ?"
        ).first(key + [.integer(state.rawValue)]) { $0.optionalInteger() } ?? nil
    }

    // MARK: The session

    /// The session is lost: all sent messages are in doubt.
    static func sessionLost(_ step: Step) throws {
        try step.database.run(
            """
            UPDATE room_message SET acked_at = NULL, state = CASE (SELECT m.state FROM message m WHERE m.id = message)
                WHEN ?2 THEN ?3 ELSE ?4 END
            WHERE account = ?1 AND state IN (?5, ?6)
            """,
            [
                .integer(step.account.id), .state(MessageState.queued), .integer(State.waiting.rawValue),
                .integer(State.doubtful.rawValue), .integer(State.queued.rawValue), .integer(State.acked.rawValue),
            ])
    }

    /// The session was resumed. Messages that were sent and are not covered by the server's count wait for the archive, like messages
    /// to contacts: the count may come from a server process that took the session over and did not receive everything.
    static func sessionResumed(_ step: Step) throws {
        let unacknowledged = try step.database.statement(
            "DELETE FROM queue WHERE account = ? AND groupchat IS NOT NULL RETURNING groupchat"
        ).all([.integer(step.account.id)]) { $0.integer() }
        for message in unacknowledged {
            let hasLeft = try Message.load(message, from: step.database)?.state != .queued
            try step.database.run(
                "UPDATE room_message SET state = ? WHERE message = ?",
                [.integer((hasLeft ? State.doubtful : .waiting).rawValue), .integer(message)])
        }
    }

    /// The account has entered the room. Messages that were sent before the presence and not reflected are in doubt: no newer message
    /// may overtake them.
    func entered() throws {
        // The timer is lost if its handler could never be called.
        try database.run("UPDATE room SET looking = 0 WHERE id = ?", [.integer(room.id)])
        try doubt()
        if room.info.hasArchive { return try read() }
        try settleByHistory()
        try flush()
    }

    // MARK: Reflected, refused, failed

    /// The state of a message has changed.
    static func stateChanged(_ message: Message, in step: Step) throws {
        switch message.state {
        case .delivered, .displayed, .failed: try forget(message.id, in: step)
        case .sent where !message.isSettled, .acked where !message.isSettled: try forget(message.id, in: step)
        case .queued, .sent, .acked, nil: break
        }
    }

    /// The account's server has acknowledged the message, possibly once more.
    static func acknowledged(_ message: Int64, in step: Step) throws {
        let room = try step.database.statement(
            "UPDATE room_message SET state = ?, acked_at = ? WHERE message = ? AND state = ? RETURNING room"
        ).first([
            .integer(State.acked.rawValue), .integer(step.steady.now), .integer(message),
            .integer(State.queued.rawValue),
        ]) { JID.received($0.text()) }
        guard let room, let row = try RoomRows(database: step.database, account: step.account.id).room(room) else {
            return
        }
        try RoomOutbox(step: step, room: row).scheduleCheck(after: timeout)
    }

    /// Schedules a check for missing reflections. One timer for each room is sufficient.
    private func scheduleCheck(after duration: Duration) throws {
        try database.run("UPDATE room SET looking = 1 WHERE id = ? AND looking = 0", [.integer(room.id)])
        if database.changes > 0 { try step.schedule(ReflectionTimeout(room: room.id), after: duration) }
    }

    private static func forget(_ message: Int64, in step: Step) throws {
        try step.database.run("DELETE FROM room_message WHERE message = ?", [.integer(message)])
    }

    /// The room has rejected the message because the account is no occupant: the room does not have the message.
    /// - Returns: whether the message is sent again after the next join.
    func refused(_ message: Int64) throws -> Bool {
        let refusals = try database.statement(
            "UPDATE room_message SET refusals = refusals + 1 WHERE message = ? RETURNING refusals"
        ).first([.integer(message)]) { $0.integer() }
        guard let refusals, refusals < Self.maxRefusals else { return false }
        try set(.waiting, message)
        return true
    }

    /// An intermediate server could not deliver the message. The room may have received it nevertheless: a server also returns stanzas
    /// that were unacknowledged when a server-to-server connection ended (measured: Prosody). Newer messages wait, otherwise they would
    /// overtake the message as soon as the route works again.
    func sentBack() throws {
        // An error arrives for each message; the first one handles all.
        let left = try messages(.queued) + messages(.acked)
        guard !left.isEmpty else { return }
        try UnshownMessages(step: step, room: room).record(left)
        try doubt()
        try scheduleCheck(after: Self.timeout)
    }

    /// The user has left the room: messages not sent yet fail, and the outcome of the others is reported as unknown.
    func failAll(_ reason: Reason) throws {
        for message in try messages() {
            if try Message.load(message, from: database)?.state == .queued {
                try MessageWriter(step: step).fail(message, reason)
            } else {
                try UnknownOutcomes(step: step).report([message])
            }
        }
        try database.run("DELETE FROM room_message WHERE account = ? AND room = ?", key)
    }

    private func messages(_ state: State? = nil) throws -> [Int64] {
        try database.statement(
            "SELECT message FROM room_message WHERE account = ? AND room = ? AND state = coalesce(?, state) ORDER BY message"
        ).all(key + [.optional(state?.rawValue)]) { $0.integer() }
    }

    /// Whether work for rooms is outstanding that does not depend on the user: messages to be sent or reflected, rooms being entered,
    /// or groups being created.
    static func hasOutstandingWork(by account: Account, in database: Database) throws -> Bool {
        try database.statement(
            """
            SELECT 1 FROM room_plan WHERE account = ?1
            UNION ALL SELECT 1 FROM room_message m CROSS JOIN room r ON r.account = m.account AND r.jid = m.room
            WHERE m.account = ?1 AND (r.state IN ('asking', 'joining', 'entering', 'doubtful')
                OR r.state = 'joined' AND m.state IN (0, 1, 3)) LIMIT 1
            """
        ).first([.integer(account.id)]) { _ in true } ?? false
    }

    // MARK: Doubt

    /// The self-ping was answered, and messages that the account's server acknowledged before it were not reflected. They were lost
    /// between the servers, which preserve the order of stanzas (RFC 6120 section 10.1); or the account's server has lost their
    /// reflections at a resume (measured: ejabberd). Therefore the room has to show its messages again.
    /// - Returns: whether the room, which has no archive, has to send its history.
    func confirmed() throws -> Bool {
        let unshown = UnshownMessages(step: step, room: room)
        let overdue = try unshown.overdue()
        guard try !overdue.isEmpty || first(.doubtful) != nil else {
            try flush()
            return false
        }
        try unshown.record(overdue)
        try doubt()
        guard room.info.hasArchive else { return true }
        try read()
        return false
    }

    /// Sends a message in doubt again that has not arrived. The number of repetitions is limited, for a room that accepts a message and
    /// shows it to nobody.
    private func retry(_ message: Int64) throws {
        guard try !UnshownMessages(step: step, room: room).isExhausted(message) else {
            return try UnknownOutcomes(step: step).report([message])
        }
        try set(.waiting, message)
    }

    /// All sent messages that were not reflected are now in doubt. Those still in the queue are sent before the query of the archive.
    private func doubt() throws {
        try database.run(
            "UPDATE room_message SET state = ?3, acked_at = NULL WHERE account = ?1 AND room = ?2 AND state IN (?4, ?5)",
            key + ([.doubtful, .queued, .acked] as [State]).map { .integer($0.rawValue) })
    }

    // MARK: With an archive

    /// Reads the room's archive, from the newest message known when the first message in doubt was sent; if none was known, from the
    /// oldest.
    func read() throws {
        guard room.info.hasArchive else { return }
        let reading = ArchiveSync(step: step, archive: Archive(room: room.jid))
        let anchor = try first(.doubtful).map { message in
            try database.statement("SELECT anchor FROM message WHERE id = ?")
                .first([.integer(message)]) { $0.optionalText() } ?? nil
        }
        try reading.beginRoom(trusted: true, from: anchor.flatMap { try $0 ?? reading.ranges.newest()?.firstID })
    }

    /// The archive was read to its end, or reading it has failed. Messages in doubt that were not found have not arrived.
    func wasRead(problem: String?) throws {
        guard room.stay.state.isIn else { return }
        let doubtful = try messages(.doubtful)
        if let problem {
            guard !doubtful.isEmpty else { return try flush() }
            try scheduleCheck(after: Self.timeout)
            return step.emit(RoomRead(room: room.jid, problem: "messages wait for the archive: \(problem)"))
        }
        let round = try ArchiveSync(step: step, archive: Archive(room: room.jid)).round()?.number ?? 0
        for message in doubtful {
            if try RoomDeliveryEvidence(step: step, room: room).isProven(message, by: round) {
                try retry(message)
            } else {
                try UnknownOutcomes(step: step).report([message])
            }
        }
        try flush()
    }

    // MARK: Without an archive

    /// The history of a room without an archive was received. If it reaches back to a message known before, it is complete since then.
    private func settleByHistory() throws {
        for message in try messages(.doubtful) {
            if room.overlaps { try retry(message) } else { try UnknownOutcomes(step: step).report([message]) }
        }
    }
}

/// Checks whether a room has reflected all messages.
struct ReflectionTimeout: Handler {
    static let name = "rooms.unreflected"
    let room: Int64

    func call(_: Void, in step: Step) throws {
        let rooms = RoomCoordinator(step: step)
        guard var row = try rooms.rows.room(room) else { return }
        let outbox = RoomOutbox(step: step, room: row)
        if try outbox.checkReflections() { try rooms.handle(.doubted, &row) }
        step.flush()
    }
}

extension RoomOutbox {
    /// Reads the archive once more if messages still depend on it, and schedules the next check for messages sent since.
    /// - Returns: whether reflections are overdue.
    fileprivate func checkReflections() throws -> Bool {
        try database.run("UPDATE room SET looking = 0 WHERE id = ?", [.integer(room.id)])
        if try !UnshownMessages(step: step, room: room).overdue().isEmpty { return true }
        if room.stay.state == .joined, try first(.doubtful) != nil { try read() }
        let oldest =
            try database.statement(
                "SELECT min(acked_at) FROM room_message WHERE account = ? AND room = ? AND state = ?"
            ).first(key + [.integer(State.acked.rawValue)]) { $0.optionalInteger() } ?? nil
        if let oldest { try scheduleCheck(after: Self.timeout - .milliseconds(step.steady.now - oldest)) }
        return false
    }
}
