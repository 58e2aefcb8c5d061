import KalijAddress
import KalijHandlers
import KalijSteps
import KalijStore
import KalijXML

import FoundationEssentials

/// The messages to a room that the room has not shown yet, in order.
///
/// A message leaves only while the account is in the room. The message is owed until the room shows it: an
/// acknowledgement of the account's server says nothing about another server. What was shown is settled by
/// ``MessageWriter/settleOwn(_:_:at:)``. After a lost session, and if a message does not come back, the room's archive
/// decides: a message that is not there is sent again, in order, and newer messages wait behind it.
struct RoomOutbox {
    enum State: Int64 {
        /// Has not left, or is to be sent again.
        case waiting = 0
        /// In the queue of the session, or on its way.
        case queued = 1
        /// The account's server has the message.
        case acked = 2
        /// Nobody knows whether the message has arrived: the archive is asked.
        case doubtful = 3
    }

    let step: Step
    let room: RoomRow
    private var database: Database { step.database }
    private var key: [Value] { [.integer(step.account.id), .text(room.jid.description)] }
    private var queue: OutboundQueue { OutboundQueue(database: database, account: step.account.id) }

    /// How long the room has for showing a message that the account's server has taken.
    static let patience = Duration.seconds(30)
    /// How often a room may say that it does not know the sender.
    private static let mostRefusals: Int64 = 3
    /// How many messages are queued in a step.
    private static let portion: Int64 = 100

    // MARK: Leaving

    /// A message was accepted.
    func accept(_ stanza: Element, _ message: Int64) throws {
        let bytes = stanza.bytes(in: "jabber:client")
        try queue.check(bytes)
        guard room.isWanted else { throw IntentFailure("you have left the room \(room.jid): `kalij room join`") }
        try database.run(
            "INSERT INTO room_message(message, account, room, stanza) VALUES (?3, ?1, ?2, ?4)",
            key + [.integer(message), .blob(bytes)])
        try flush()
    }

    /// Queues what waits, in order, while the account is in the room and nothing is in doubt. Nothing is said in a room
    /// that is still being made.
    func flush() throws {
        guard try isOpen, let held = room.held else { return }
        let waiting = try database.statement(
            "SELECT message, stanza FROM room_message WHERE account = ? AND room = ? AND state = ? ORDER BY message LIMIT ?"
        ).all(key + [.integer(State.waiting.rawValue), .integer(Self.portion)]) {
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
        if waiting.count == Int(Self.portion) { try flush() }
    }

    /// Whether a message that waits may leave now.
    var isOpen: Bool {
        get throws {
            try room.stay.state == .joined && !room.stay.mayCreate && room.held != nil && first(.doubtful) == nil
        }
    }

    /// The message leaves as `stanza`, now and whenever it is sent again.
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

    /// The session is lost: whatever has left is in doubt.
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

    /// The session goes on. Messages that have left and are not in the server's count wait for the archive, like
    /// messages to contacts: the count may be the count of an heir to the session that did not see everything.
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

    /// The account is in the room from now on. What left before the presence and was not shown is in doubt: no newer
    /// message may overtake it.
    func entered() throws {
        // A timer may have been lost with a handler that could never be called.
        try database.run("UPDATE room SET looking = 0 WHERE id = ?", [.integer(room.id)])
        try doubt()
        if room.info.hasArchive { return try read() }
        try settleByHistory()
        try flush()
    }

    // MARK: Shown, refused, given up

    /// The message has another state.
    static func stateChanged(_ message: Message, in step: Step) throws {
        switch message.state {
        case .delivered, .displayed, .failed: try forget(message.id, in: step)
        case .sent where !message.isSettled, .acked where !message.isSettled: try forget(message.id, in: step)
        case .queued, .sent, .acked, nil: break
        }
    }

    /// The account's server has the message; perhaps not for the first time.
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
        try RoomOutbox(step: step, room: row).look(after: patience)
    }

    /// Looks later whether messages have come back. A timer a room is enough.
    private func look(after duration: Duration) throws {
        try database.run("UPDATE room SET looking = 1 WHERE id = ? AND looking = 0", [.integer(room.id)])
        if database.changes > 0 { try step.schedule(ReflectionTimeout(room: room.id), after: duration) }
    }

    private static func forget(_ message: Int64, in step: Step) throws {
        try step.database.run("DELETE FROM room_message WHERE message = ?", [.integer(message)])
    }

    /// The room has refused the message because the account is no occupant: the message is not in the room.
    /// - Returns: whether the message is sent again after the next join.
    func refused(_ message: Int64) throws -> Bool {
        let refusals = try database.statement(
            "UPDATE room_message SET refusals = refusals + 1 WHERE message = ? RETURNING refusals"
        ).first([.integer(message)]) { $0.integer() }
        guard let refusals, refusals < Self.mostRefusals else { return false }
        try set(.waiting, message)
        return true
    }

    /// A server on the way could not pass the message on. Perhaps the room has it all the same: a server also sends back
    /// what was not acknowledged when a connection between servers ended (measured: Prosody). Newer messages wait, or
    /// they would overtake the message as soon as the way is free again.
    func sentBack() throws {
        // Each message comes back.
        let left = try messages(.queued) + messages(.acked)
        guard !left.isEmpty else { return }
        try UnshownMessages(step: step, room: room).note(left)
        try doubt()
        try look(after: Self.patience)
    }

    /// Nothing will be said in the room any more.
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

    /// Whether messages to rooms are owed that can leave, or come back, without the user; or groups are in the making.
    static func isOwed(by account: Account, in database: Database) throws -> Bool {
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

    /// The self-ping was answered, and messages have not come back that the account's server took before: they were
    /// lost between the servers, which keep the order of stanzas (RFC 6120 section 10.1). Or their reflections were
    /// lost by the account's server at a resume (measured: ejabberd): so the room has to show what was said.
    /// - Returns: whether the room, which has no archive, has to tell its history.
    func confirmed() throws -> Bool {
        let unshown = UnshownMessages(step: step, room: room)
        let overdue = try unshown.overdue()
        guard try !overdue.isEmpty || first(.doubtful) != nil else {
            try flush()
            return false
        }
        try unshown.note(overdue)
        try doubt()
        guard room.info.hasArchive else { return true }
        try read()
        return false
    }

    /// A message in doubt has not arrived, and leaves again; not for ever, if the room takes it and shows it to nobody.
    private func again(_ message: Int64) throws {
        guard try !UnshownMessages(step: step, room: room).isGivenUp(message) else {
            return try UnknownOutcomes(step: step).report([message])
        }
        try set(.waiting, message)
    }

    /// Everything that has left and was not shown is in doubt. Whatever is queued leaves before the question to the
    /// archive.
    private func doubt() throws {
        try database.run(
            "UPDATE room_message SET state = ?3, acked_at = NULL WHERE account = ?1 AND room = ?2 AND state IN (?4, ?5)",
            key + ([.doubtful, .queued, .acked] as [State]).map { .integer($0.rawValue) })
    }

    // MARK: With an archive

    /// Reads the room's archive, from the last message known when the first message in doubt left; if none was known, from the first.
    func read() throws {
        guard room.info.hasArchive else { return }
        let reading = ArchiveSync(step: step, archive: Archive(room: room.jid))
        let anchor = try first(.doubtful).map { message in
            try database.statement("SELECT anchor FROM message WHERE id = ?")
                .first([.integer(message)]) { $0.optionalText() } ?? nil
        }
        try reading.beginRoom(trusted: true, from: anchor.flatMap { try $0 ?? reading.ranges.newest()?.firstID })
    }

    /// The archive was read to its end, or reading has failed: what is in doubt and was not shown has not arrived.
    func wasRead(problem: String?) throws {
        guard room.stay.state.isIn else { return }
        let doubtful = try messages(.doubtful)
        if let problem {
            guard !doubtful.isEmpty else { return try flush() }
            try look(after: Self.patience)
            return step.emit(RoomRead(room: room.jid, problem: "messages wait for the archive: \(problem)"))
        }
        let round = try ArchiveSync(step: step, archive: Archive(room: room.jid)).round()?.number ?? 0
        for message in doubtful {
            if try RoomDeliveryEvidence(step: step, room: room).isProven(message, by: round) {
                try again(message)
            } else {
                try UnknownOutcomes(step: step).report([message])
            }
        }
        try flush()
    }

    // MARK: Without an archive

    /// The history of a room without an archive was told. If the history goes back to a message known before, nothing
    /// between is missing.
    private func settleByHistory() throws {
        for message in try messages(.doubtful) {
            if room.overlaps { try again(message) } else { try UnknownOutcomes(step: step).report([message]) }
        }
    }
}

/// Perhaps a message did not come back from a room.
struct ReflectionTimeout: Handler {
    static let name = "rooms.unreflected"
    let room: Int64

    func call(_: Void, in step: Step) throws {
        let rooms = RoomCoordinator(step: step)
        guard var row = try rooms.rows.room(room) else { return }
        let outbox = RoomOutbox(step: step, room: row)
        if try outbox.lookAgain() { try rooms.handle(.doubted, &row) }
        step.flush()
    }
}

extension RoomOutbox {
    /// Reads the archive once more, if messages still wait for it. Comes back to messages that have left since.
    /// - Returns: whether messages wait for longer than a room needs.
    fileprivate func lookAgain() throws -> Bool {
        try database.run("UPDATE room SET looking = 0 WHERE id = ?", [.integer(room.id)])
        if try !UnshownMessages(step: step, room: room).overdue().isEmpty { return true }
        if room.stay.state == .joined, try first(.doubtful) != nil { try read() }
        let oldest =
            try database.statement(
                "SELECT min(acked_at) FROM room_message WHERE account = ? AND room = ? AND state = ?"
            ).first(key + [.integer(State.acked.rawValue)]) { $0.optionalInteger() } ?? nil
        if let oldest { try look(after: Self.patience - .milliseconds(step.steady.now - oldest)) }
        return false
    }
}
