import KalijCore
import KalijStore

/// How far the user has read each conversation: the newest message that was displayed on any device. The place only moves forward.
package struct DisplayedPlaces {
    let step: Step
    private var database: Database { step.database }
    private var account: Value { .integer(step.account.id) }
    private var messages: MessageReader { MessageReader(database: step.database, account: step.account.id) }

    /// The source of a move.
    enum Mover {
        /// The user of this device: other devices have to be notified.
        case user
        /// The account's node (XEP-0490): other devices are notified already.
        case node
        /// A marker of another device (XEP-0333), which may have published the place, or not.
        case marker
        /// Messages from before the account was added here.
        case history
    }

    /// The order number of the last message that counts as displayed.
    func position(in conversation: String) throws -> Int64 {
        let history = try step.transaction.history().position
        return max(try Self.place(in: conversation, of: step.account.id, in: database)?.position ?? history, history)
    }

    /// The place of the last displayed message of `conversation`. The message may have moved since, or no longer exist.
    private static func place(
        in conversation: String, of account: Int64, in database: Database
    ) throws -> MessageReader.Place? {
        let stored = try database.statement(
            "SELECT message, position FROM displayed WHERE account = ? AND conversation = ?"
        ).first([.integer(account), .text(conversation)]) {
            MessageReader.Place(row: $0.integer("message"), position: $0.integer("position"))
        }
        return try stored.map { try MessageReader(database: database, account: account).place(of: $0.row) ?? $0 }
    }

    /// Compares `place` with the last message that counts as displayed: positive if it is later, negative if earlier.
    private func compare(_ place: MessageReader.Place, in conversation: String) throws -> Int {
        var order = ArchiveOrder(database: database, account: step.account.id)
        let history = try step.transaction.history().position
        let displayed = try Self.place(in: conversation, of: step.account.id, in: database).map {
            try order.rank(of: $0)
        }
        let begin = ArchiveOrder.Rank(isUnshown: false, position: history)
        let (own, new) = (max(displayed ?? begin, begin), try order.rank(of: place))
        return new > own ? 1 : new < own ? -1 : 0
    }

    /// The number of unread messages of a conversation: those of others who are not blocked, after the displayed place, shown and not
    /// erased; at most `MessageReader.mostUnread`.
    package static func unread(in conversation: String, of account: Int64, in database: Database) throws -> Int {
        let session = try SessionRow.history(of: account, in: database)
        guard let range = try unreadRange(in: conversation, since: session, of: account, in: database) else { return 0 }
        return try MessageReader(database: database, account: account).unread(in: conversation, range)
    }

    /// The rows of the unread messages of a conversation, oldest first; at most the oldest `MessageReader.mostUnread`.
    package static func unreadRows(
        in conversation: String, of account: Int64, in database: Database
    ) throws -> [Int64] {
        let session = try SessionRow.history(of: account, in: database)
        let range = try unreadRange(in: conversation, since: session, of: account, in: database)
        guard let range else { return [] }
        return try MessageReader(database: database, account: account).unreadRows(in: conversation, range)
    }

    /// The range of the unread messages; nil if there are none.
    private static func unreadRange(
        in conversation: String, since session: (position: Int64, isBlocking: Bool), of account: Int64,
        in database: Database
    ) throws -> MessageReader.UnreadRange? {
        let (history, isBlocking) = session
        var range = MessageReader.UnreadRange(after: history)
        if isBlocking {
            switch try BlockedRows(database: database, account: account).senders(in: .received(conversation)) {
            case .all: return nil
            case .clients(let blocked): range.clients = blocked
            }
        }
        guard let place = try place(in: conversation, of: account, in: database), place.position > history else {
            return range
        }
        range.position = place.position
        // The archive may have erased a retracted message, which a reading then does not move: its order number decides.
        guard try !MessageReader(database: database, account: account).isErased(place.row) else { return range }
        var order = ArchiveOrder(database: database, account: account)
        range.reading = try order.reading(before: place)
        return range
    }

    /// Moves the place forward.
    /// - Returns: false if the place is there already, or later.
    @discardableResult
    func advance(_ conversation: String, to place: MessageReader.Place, by mover: Mover) throws -> Bool {
        let order = try compare(place, in: conversation)
        if mover == .node { try recordPublished(isEarlier: order < 0, in: conversation) }
        guard order > 0 else {
            // The displayed message may be ranked last because the archive has not returned it yet: this message may have a
            // notification nevertheless.
            if mover != .history { try NotificationWriter(step: step).withdraw(place.row) }
            return false
        }
        try database.run(
            """
            INSERT INTO displayed(account, conversation, message, position, is_own, unpublished) VALUES (?1, ?2, ?3, ?4, ?5, ?5)
            ON CONFLICT DO UPDATE SET message = excluded.message, position = excluded.position,
                is_own = excluded.is_own, unpublished = max(unpublished, excluded.unpublished)
            """,
            [
                account, .text(conversation), .integer(place.row), .integer(place.position),
                .integer(mover == .user ? 1 : 0),
            ])
        if mover != .history {
            step.unreadMayDiffer(in: conversation)
            try NotificationWriter(step: step).withdraw(through: place, in: conversation)
        }
        return true
    }

    /// Handles a message of somebody else that is shown from now on.
    func shown(_ message: Message, from incoming: IncomingMessage) throws {
        guard message.direction == .incoming else { return }
        let isHistory = try step.isHistory(incoming)
        if !isHistory { step.unreadArrived(message.id, in: message.conversation) }
        guard isHistory || step.notifies, let place = try place(of: message.id) else { return }
        if isHistory {
            return try history(message.conversation, place, isCatchUp: incoming.archive.isEmpty && !incoming.isOlder)
        }
        // Withdraws a notification of a message that was displayed before it was stored.
        guard try place.position <= position(in: message.conversation) else { return }
        try NotificationWriter(step: step).withdraw(through: place, in: message.conversation)
    }

    private func place(of row: Int64) throws -> MessageReader.Place? {
        guard let last = step.transaction.lastShown, last.message == row else { return try messages.place(of: row) }
        return MessageReader.Place(row: row, position: last.position)
    }

    /// Messages from before the account was added here count as read. Those of the first reading of the account's own archive are
    /// recorded in the session's row, which the step writes in any case.
    private func history(_ conversation: String, _ place: MessageReader.Place, isCatchUp: Bool) throws {
        if isCatchUp {
            step.transaction.unreadCounts.forget()
            try step.transaction.historyEnds(at: place.position)
        } else {
            try advance(conversation, to: place, by: .history)
        }
    }

    /// Emits the number of unread messages of each of `conversations`.
    func emitUnread(in conversations: [String]) throws {
        let session = try step.transaction.history()
        for conversation in conversations {
            let known = session.isBlocking ? nil : grown(conversation)
            let count = try known ?? count(conversation, since: session)
            step.emit(UnreadChanged(conversation: conversation, count: count))
        }
    }

    /// The number as known before the transaction, and the messages that have arrived in it; nil if it has to be counted.
    private func grown(_ conversation: String) -> Int? {
        guard case .arrived(let more)? = step.effects.unread[conversation.exact] else { return nil }
        return step.transaction.unreadCounts.add(
            more, in: conversation, of: step.account.id, most: MessageReader.maxUnread)
    }

    /// Counts; the number is kept, unless it depends on who sends, or on a reading of the archive.
    private func count(_ conversation: String, since session: (position: Int64, isBlocking: Bool)) throws -> Int {
        let range = try Self.unreadRange(in: conversation, since: session, of: step.account.id, in: database)
        let count = try range.map { try messages.unread(in: conversation, $0) } ?? 0
        let isKept = !session.isBlocking && range?.reading == nil
        step.transaction.unreadCounts[conversation, of: step.account.id] = isKept ? count : nil
        return count
    }

    // MARK: Places of messages that are not stored

    /// The name of a displayed message.
    enum Name: Equatable {
        /// The id in an archive.
        case archived(String, Archive)
        /// The sender's id of the stanza.
        case stanza(String)

        /// The account's node identifies messages by the archive id, a marker by the stanza's id.
        var mover: Mover {
            switch self {
            case .archived: .node
            case .stanza: .marker
            }
        }
    }

    /// Handles a message displayed on another device: the place moves, or the name waits for the message.
    /// - Parameter mover: nil if the name says it.
    func displayed(_ name: Name, in conversation: String, by mover: Mover? = nil) throws {
        let mover = mover ?? name.mover
        if let place = try place(of: name, in: conversation), try isInOrder(place) {
            try advance(conversation, to: place, by: mover)
        } else {
            try keep(name, in: conversation)
            // Either the account's archive has a message that is missing here, or the name is obsolete.
            if mover == .node, try !isReading, try SessionRow.load(step.account.id, from: database).archive {
                step.retryArchive()
            }
        }
    }

    /// Whether the account's archive is being read.
    private var isReading: Bool { get throws { try step.catchUp.round().map { $0.phase != .done } ?? false } }

    /// Whether all messages before `place` are older. While the archive is being read, live messages may precede the messages that the
    /// reading has returned, without having been displayed.
    private func isInOrder(_ place: MessageReader.Place) throws -> Bool {
        guard let round = try step.catchUp.round(), round.phase != .done else { return true }
        return try messages.reading(of: place.row)?.round ?? 0 < round.number
    }

    /// Handles a stored message, which another device may have displayed before.
    func stored(_ conversation: String) throws {
        for (id, name) in try early(conversation) {
            guard let place = try place(of: name, in: conversation), try isInOrder(place) else { continue }
            try forgetEarly(id)
            try advance(conversation, to: place, by: name.mover)
        }
    }

    /// The archive was read to its end: names without a message are deleted (XEP-0490 section 5.1).
    func archiveRead() throws {
        let waiting = try database.statement("SELECT DISTINCT conversation FROM early_displayed WHERE account = ?")
            .all([account]) { $0.text("conversation") }
        for conversation in waiting {
            try stored(conversation)
            for (id, _) in try early(conversation) { try forgetEarly(id) }
        }
        try withdrawRead()
    }

    /// Withdraws notifications of messages that the reading has moved before the displayed message. The order is reliable only if the
    /// reading has returned the displayed message: otherwise that is ranked last.
    private func withdrawRead() throws {
        guard let round = try step.catchUp.round(), round.changedBehind != nil else { return }
        for conversation in try NotificationWriter(step: step).conversations() {
            guard let place = try Self.place(in: conversation, of: step.account.id, in: database),
                try messages.reading(of: place.row)?.round == round.number
            else { continue }
            try NotificationWriter(step: step).withdraw(through: place, in: conversation)
        }
    }

    private func place(of name: Name, in conversation: String) throws -> MessageReader.Place? {
        switch name {
        case .archived(let id, let archive):
            return try messages.place(archived: id, in: archive, conversation: conversation)
        case .stanza(let id):
            let row = try messages.named(id, in: conversation, by: .others, from: nil)?.row
            return try row.flatMap { try messages.place(of: $0) }
        }
    }

    private func early(_ conversation: String) throws -> [(id: Int64, name: Name)] {
        if try database.isKnownEmpty(.earlyDisplayed) { return [] }
        return try database.statement(
            "SELECT id, name, archive FROM early_displayed WHERE account = ? AND conversation = ?"
        )
        .all([account, .text(conversation)]) { row in
            let archive = row.optionalText("archive")
            let name: Name =
                archive.map { .archived(row.text("name"), Archive(key: $0)) } ?? .stanza(row.text("name"))
            return (row.integer("id"), name)
        }
    }

    /// The maximum number of waiting names of a conversation. Any of them may identify the last message.
    private static let maxEarly: Int64 = 10

    private func keep(_ name: Name, in conversation: String) throws {
        let (id, archive): (String, String?) =
            switch name {
            case .archived(let id, let archive): (id, archive.key)
            case .stanza(let id): (id, nil)
            }
        guard Archive.isID(id) else { return }
        try database.run(
            """
            DELETE FROM early_displayed WHERE account = ?1 AND conversation = ?2
                AND (name = ?3 AND archive IS ?4 OR id <= (SELECT id FROM early_displayed
                    WHERE account = ?1 AND conversation = ?2 ORDER BY id DESC LIMIT 1 OFFSET ?5))
            """,
            [account, .text(conversation), .text(id), .optional(archive), .integer(Self.maxEarly - 1)])
        try database.run(
            "INSERT INTO early_displayed(account, conversation, name, archive) VALUES (?, ?, ?, ?)",
            [account, .text(conversation), .text(id), .optional(archive)], into: .earlyDisplayed)
    }

    private func forgetEarly(_ id: Int64) throws {
        try database.run("DELETE FROM early_displayed WHERE id = ?", [.integer(id)])
    }

    /// Compares a place of the account's node with the stored one. If it is not earlier, the stored one need not be published. If it is
    /// earlier, another device has published it without the stored one: a place that the user has reached here is published again.
    private func recordPublished(isEarlier: Bool, in conversation: String) throws {
        try database.run(
            """
            UPDATE displayed SET unpublished = ?1 WHERE account = ?2 AND conversation = ?3 AND unpublished <> ?1
                AND (?1 = 0 OR is_own)
            """, [.integer(isEarlier ? 1 : 0), account, .text(conversation)])
    }
}

extension SparseTable {
    fileprivate static let earlyDisplayed = SparseTable(anyRow: "SELECT 1 FROM early_displayed LIMIT 1")
}
