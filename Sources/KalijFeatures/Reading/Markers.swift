import KalijAddress
import KalijCore
import KalijStore
import KalijXML

/// Displayed markers (XEP-0333) of a step: to contacts and groups, and from contacts.
struct Markers {
    static let namespace = "urn:xmpp:chat-markers:0"

    let step: Step
    private var database: Database { step.database }
    private var account: Value { .integer(step.account.id) }
    private var messages: MessageReader { MessageReader(database: step.database, account: step.account.id) }

    // MARK: From this client

    /// Sends a marker after the user has read `conversation` up to `place`, and up to the order number `old` before: for the newest
    /// markable message in between. The marker waits while it is undetermined whether the contact may learn that the account is online.
    /// - Parameter id: the id of the marker's stanza.
    /// - Returns: whether a marker is sent.
    func read(_ conversation: String, through place: MessageReader.Place, from old: Int64, id: String) throws -> Bool {
        let last = try marked(in: conversation).flatMap { try messages.place(of: $0) }
        // The message at `place` has precedence: while the archive is being read, the order of others may be wrong.
        let message =
            try newest(in: conversation, after: place.position &- 1, through: place.position)
            ?? newest(in: conversation, after: max(old, last?.position ?? .min), through: place.position)
        guard let message, try isLater(message.row, than: last) else { return false }
        return try send(message.row, message.id, in: conversation, asking: true, id: id)
    }

    /// The newest message that gets a marker, with the id that the marker names.
    private func newest(
        in conversation: String, after first: Int64, through last: Int64
    ) throws -> (row: Int64, id: String)? {
        let markable = MarkableMessages(database: database, account: step.account.id)
        guard try GroupMarkers(conversation, in: step) != nil else {
            return try markable.newest(in: conversation, after: first, through: last)
        }
        return try markable.newest(.incoming, in: conversation, after: first, through: last)
    }

    /// Sends the waiting markers.
    /// - Parameter asking: whether markers to contacts whose subscription is undetermined continue to wait; otherwise they are dropped.
    func sendPending(asking: Bool) throws {
        let owed = try database.statement(
            "SELECT conversation, owed FROM displayed INDEXED BY displayed_owed WHERE account = ? AND owed > 0"
        ).all([account]) { ($0.text("conversation"), $0.integer("owed")) }
        for (conversation, row) in owed {
            try set(owed: nil, conversation)
            let last = try marked(in: conversation).flatMap { try messages.place(of: $0) }
            guard let message = try Message.load(row, from: database),
                let name = message.type == "groupchat" ? message.stanzaID : message.messageID, !name.isEmpty,
                try isLater(row, than: last)
            else { continue }
            _ = try send(row, name, in: conversation, asking: asking, id: OutgoingID(nil).text)
        }
    }

    /// Whether the account's archive is being read, and moves messages.
    private var isMoving: Bool {
        get throws { try step.catchUp.round().map { $0.phase != .done && $0.changedBehind != nil } ?? false }
    }

    private func isLater(_ row: Int64, than last: MessageReader.Place?) throws -> Bool {
        guard let last, let place = try messages.place(of: row) else { return true }
        var order = ArchiveOrder(database: database, account: step.account.id)
        return try order.rank(of: place) > order.rank(of: last)
    }

    private func send(
        _ row: Int64, _ message: String, in conversation: String, asking: Bool, id: String
    ) throws -> Bool {
        // While the archive moves messages, the newest one cannot be determined reliably.
        let group = try GroupMarkers(conversation, in: step)
        guard try !(group?.isMoving ?? isMoving) else {
            try set(owed: row, conversation)
            return false
        }
        let contact = JID.received(conversation)
        switch try group.map({ try $0.mayTell ? .may : .mayNot })
            ?? DisclosurePolicy(step: step).verdict(.markers, to: contact)
        {
        case .mayNot: return false
        case .unknown:
            guard asking else { return false }
            try set(owed: row, conversation)
            return false
        case .may: break
        }
        try database.run(
            "UPDATE displayed SET marked = ?, owed = NULL WHERE account = ? AND conversation = ?",
            [.integer(row), account, .text(conversation)])
        let marker = Element("displayed", xmlns: Self.namespace, attributes: ["id": message])
        // A marker for an id that exceeds the server's limit fails.
        let stanza = OutgoingStanza(hidden: [marker], to: contact, id: id, isRepeatable: true)
        return try stanza.enqueue(in: step, sentAt: step.now).state != .failed
    }

    private func marked(in conversation: String) throws -> Int64? {
        try database.statement("SELECT marked FROM displayed WHERE account = ? AND conversation = ?")
            .first([account, .text(conversation)]) { $0.optionalInteger("marked") } ?? nil
    }

    private func set(owed row: Int64?, _ conversation: String) throws {
        try database.run(
            "UPDATE displayed SET owed = ? WHERE account = ? AND conversation = ?",
            [.optional(row), account, .text(conversation)])
    }

    /// Whether the marker was sent by this client: then the copy settles the marker's row.
    func isOurs(_ marker: IncomingMessage) throws -> Bool {
        guard let id = marker.ownID else { return false }
        return try Message.accepted(id, by: step.account, in: database) != nil
    }

    // MARK: From contacts

    /// Handles a marker: `contact` has displayed the message sent as `id`, and all before. The message may be in a gap of the archive.
    func received(for id: String, from contact: String) throws {
        if let row = try sent(id, to: contact) { return try displayed(row, by: contact) }
        guard Archive.isID(id) else { return }
        try database.run(
            "INSERT OR IGNORE INTO early_marker(account, contact, message) VALUES (?, ?, ?)",
            [account, .text(contact), .text(id)])
        guard database.changes > 0 else { return }
        try database.run(
            "DELETE FROM early_marker WHERE id <= (SELECT max(id) FROM early_marker) - ?",
            [.integer(EngineLimits.keptRows)])
    }

    /// Handles a stored message of another device, whose marker may have been received before.
    func stored(_ message: Message) throws {
        try database.run(
            "DELETE FROM early_marker WHERE account = ? AND contact = ? AND message = ?",
            [account, .text(message.conversation), .text(message.messageID)])
        if database.changes > 0 { try displayed(message.id, by: message.conversation) }
    }

    /// A private marker of an occupant does not refer to a message to the room.
    private func sent(_ id: String, to contact: String) throws -> Int64? {
        guard let row = try messages.sent(id, to: contact), try messages.message(row)?.type != "groupchat" else {
            return nil
        }
        return row
    }

    private func displayed(_ row: Int64, by contact: String) throws {
        guard let place = try messages.place(of: row) else { return }
        if try isLater(row, than: DisplayedByContact.place(contact, of: step.account.id, in: database)) {
            try database.run(
                "INSERT OR REPLACE INTO displayed_by(account, contact, message, position) VALUES (?, ?, ?, ?)",
                [account, .text(contact), .integer(place.row), .integer(place.position)])
        }
        try MessageWriter(step: step).displayed(row)
    }
}

/// How far a contact has read, or all members of a group.
enum DisplayedByContact {
    /// The order number of the last message of the account that `contact` has displayed; the least number if there is none.
    static func position(_ contact: String, of account: Int64, in database: Database) throws -> Int64 {
        try place(contact, of: account, in: database)?.position ?? .min
    }

    /// The place of the last message of the account that `contact` has displayed. The message may have moved since, or no longer exist.
    static func place(
        _ contact: String, of account: Int64, in database: Database
    ) throws -> MessageReader.Place? {
        let stored = try database.statement(
            "SELECT message, position FROM displayed_by WHERE account = ? AND contact = ?"
        ).first([.integer(account), .text(contact)]) {
            MessageReader.Place(row: $0.integer("message"), position: $0.integer("position"))
        }
        return try stored.map { try MessageReader(database: database, account: account).place(of: $0.row) ?? $0 }
    }
}

extension Message {
    /// The message in the displayed state, if it is one that has arrived and precedes a displayed message (XEP-0333); else unchanged.
    package func withDisplayed(by account: Int64, in database: Database) throws -> Message {
        guard direction == .outgoing, isSettled, state == .acked || state == .delivered,
            let position = try MessageReader(database: database, account: account).place(of: id)?.position
        else { return self }
        let last = try DisplayedByContact.position(conversation, of: account, in: database)
        return position <= last ? inState(.displayed) : self
    }
}
