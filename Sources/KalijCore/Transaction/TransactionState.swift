import KalijStore
import KalijStream

/// What the steps of a transaction have read, and not yet written: each continues from the step before.
package final class TransactionState {
    private let database: Database
    private let account: Int64
    package let unreadCounts: UnreadCounts
    private let partners: ChatPartners
    /// Whether the partners are as others left them.
    private var arePartnersCurrent = false
    /// Whether stanza-ids by the account's own archive are trusted; valid after ``Step/count(_:)``.
    package var trustsArchive = false
    /// The events about messages.
    package let events: EventWriter
    /// The row of the last inserted message, which is the highest ever; nil if none was inserted.
    package private(set) var lastInserted: Int64?
    /// The row of the last inserted message that is shown, its order number, and whether the message is behind all others of the account.
    package private(set) var lastShown: (message: Int64, position: Int64, isLast: Bool)?
    /// The changes to the session's row; nil if no stanza is counted.
    var counted: Counted?

    struct Counted {
        /// The new handled count, if changed.
        var handled: HandledCount?
        /// The last order number given to a message.
        var position: Int64
        /// How many messages were stored.
        var stored: Int64 = 0
        /// The order number through which messages predate the account in this directory, if changed.
        var history: Int64?
    }

    init(_ database: Database, account: Int64, _ unreadCounts: UnreadCounts, _ chatPartners: ChatPartners) {
        (self.database, self.account, self.unreadCounts) = (database, account, unreadCounts)
        partners = chatPartners
        events = EventWriter(database, account: account)
    }

    /// What is known of the chat states of contacts. Others may write to contacts, too: what was read before is void if another connection
    /// has committed something, which is asked once in a transaction.
    package func chatPartners() throws -> ChatPartners {
        if !arePartnersCurrent {
            let version = try database.statement("PRAGMA data_version").first { $0.integer() }
            partners.follow(version)
            arePartnersCurrent = true
        }
        return partners
    }

    /// What is known of the chat states of contacts is void.
    package func forgetChatPartners() { partners.forget() }

    /// Notes that the message in `row` was inserted at the order number `position`.
    func inserted(_ row: Int64, at position: Int64, isShown: Bool) {
        lastInserted = row
        if isShown { lastShown = (row, position, position == counted?.position) }
    }

    /// Notes that a message has another order number.
    func moved() { lastShown = nil }

    /// Notes that messages through the order number `position` predate the account in this directory.
    package func historyEnds(at position: Int64) throws {
        guard let counted else { return try SessionRow.set(history: position, of: account, in: database) }
        self.counted?.history = max(position, counted.history ?? position)
    }

    /// The order number of the last message that predates the account in this directory, and whether any address is blocked.
    package func history() throws -> (position: Int64, isBlocking: Bool) {
        let (position, isBlocking) = try SessionRow.history(of: account, in: database)
        return (max(position, counted?.history ?? position), isBlocking)
    }

    /// Writes the session's row; the last work but the count of unread messages.
    func write() throws {
        guard let counted else { return }
        try database.run(
            """
            UPDATE session SET handled = coalesce(?, handled), position = ?, messages = messages + ?,
                history = max(history, coalesce(?, history)) WHERE account = ?
            """,
            [
                .optional(counted.handled.map { Int64($0.value) }), .integer(counted.position),
                .integer(counted.stored), .optional(counted.history), .integer(account),
            ])
        self.counted = nil
    }
}
