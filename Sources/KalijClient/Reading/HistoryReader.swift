import KalijSteps
import KalijFeatures
import KalijAddress
import KalijStore

/// Reads stored messages; never waits for a running process.
public struct HistoryReader {
    let database: Database
    private let shared: SharedReader?

    /// Reads what is in `database`.
    public init(_ database: Database) {
        self.database = database
        shared = nil
    }

    /// Reads what is in `directory` now, with what other processes have left in the mailbox.
    /// - Throws: `DirectoryError.noAccount`, `StoreError`
    public init(_ directory: AccountDirectory) throws {
        shared = try SharedReader(directory)
        database = try directory.read()
    }

    /// Why messages that other processes have left in the mailbox are not shown: it is damaged. Nil if it is in order.
    public var mailboxDamage: String? { shared?.damage }

    /// The newest `limit` messages with a body, oldest first: in the order of the archive where it is known, else in
    /// that of their arrival.
    /// - Parameters:
    ///   - conversation: only those with this address; nil for all.
    ///   - account: whose.
    ///   - limit: how many at most.
    public func messages(of account: Account, with conversation: JID?, limit: Int) throws -> [Message] {
        // Both as of the same moment.
        try database.reading {
            let placed = try placed(of: account, with: conversation, limit: limit).map(\.message)
            return Array((placed + (try waiting(of: account, with: conversation))).suffix(limit))
        }
    }

    /// What waits in the mailbox is sent behind all that is here.
    private func waiting(of account: Account, with conversation: JID?) throws -> [Message] {
        guard let shared else { return [] }
        let messages = try shared.messages(of: account, besides: database)
        guard let conversation else { return messages }
        return try messages.filter { try JID($0.to).bare == conversation.bare }
    }

    private func placed(
        of account: Account, with conversation: JID?, limit: Int
    ) throws -> [(message: Message, position: Int64)] {
        guard let conversation else { return try newest(limit, of: account) }
        let newestFirst = try database.statement(
            """
            SELECT id, direction, stanza_id, origin_id, sender, recipient, type, body, sent_at, state, error, settled,
                position
            FROM message WHERE account = ? AND conversation = ? AND body IS NOT NULL ORDER BY position DESC LIMIT ?
            """
        ).all([.integer(account.id), .text(conversation.bare.description), .integer(Int64(limit))]) {
            (Message($0), $0.integer("position"))
        }
        return newestFirst.reversed()
    }

    // MARK: All conversations

    /// The newest one of a conversation that was not taken yet.
    private struct Head {
        let conversation: String
        let order: (position: Int64, id: Int64)
    }

    /// The newest of all conversations: again and again the newest one of those that come next in each. An index of their common
    /// order would be another one that each message is put into.
    private func newest(_ limit: Int, of account: Account) throws -> [(message: Message, position: Int64)] {
        var heads = try database.statement(
            """
            WITH RECURSIVE c(name) AS (SELECT min(conversation) FROM message WHERE account = ?1
                UNION ALL SELECT (SELECT min(conversation) FROM message WHERE account = ?1 AND conversation > name)
                    FROM c WHERE name IS NOT NULL)
            SELECT name FROM c WHERE name IS NOT NULL
            """
        ).all([.integer(account.id)]) { $0.text() }
            .compactMap { try head(of: $0, before: (.max, .max), account) }
        var found: [(message: Message, position: Int64)] = []
        while found.count < limit, let place = heads.indices.max(by: { heads[$0].order < heads[$1].order }) {
            let head = heads[place]
            if let message = try Message.load(head.order.id, from: database) {
                found.append((message, head.order.position))
            }
            if let next = try self.head(of: head.conversation, before: head.order, account) {
                heads[place] = next
            } else {
                heads.remove(at: place)
            }
        }
        return found.reversed()
    }

    private func head(
        of conversation: String, before order: (position: Int64, id: Int64), _ account: Account
    ) throws -> Head? {
        try database.statement(
            """
            SELECT position, id FROM message
            WHERE account = ? AND conversation = ? AND (position, id) < (?, ?) AND body IS NOT NULL
            ORDER BY position DESC, id DESC LIMIT 1
            """
        ).first([.integer(account.id), .text(conversation), .integer(order.position), .integer(order.id)]) {
            Head(conversation: conversation, order: ($0.integer("position"), $0.integer("id")))
        }
    }

    /// A message, or a place where some are missing.
    public enum Entry: Sendable, Equatable {
        /// A message.
        case message(Message)
        /// Messages are missing here, or may be.
        case gap(HistoryGap)
    }

    /// The newest `limit` messages with a body as ``messages(of:with:limit:)`` gives them, and between them, before and
    /// behind them what is known to be missing.
    /// - Parameters:
    ///   - conversation: only those with this address; nil for all.
    ///   - account: whose.
    ///   - limit: how many at most.
    public func entries(of account: Account, with conversation: JID?, limit: Int) throws -> [Entry] {
        // Both as of the same moment.
        try database.reading {
            let waiting = try waiting(of: account, with: conversation).suffix(limit)
            let messages = try placed(of: account, with: conversation, limit: limit - waiting.count)
            let archives = conversation.map { [Archive(room: $0).key, Archive.own.key] }
            var gaps = try gaps(of: account).filter { archives?.contains($0.archive) ?? true }
            if messages.count + waiting.count >= limit, let first = messages.first {
                gaps.removeAll { $0.position <= first.position }
            }
            var entries: [Entry] = []
            for (message, position) in messages {
                while let gap = gaps.first, gap.position <= position { entries.append(.gap(gaps.removeFirst())) }
                entries.append(.message(message))
            }
            return entries + gaps.map(Entry.gap) + waiting.map(Entry.message)
        }
    }
}
