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
        let filter = conversation == nil ? "" : "AND conversation = ?3"
        var values: [Value] = [.integer(account.id), .integer(Int64(limit))]
        if let conversation { values.append(.text(conversation.bare.description)) }
        return try database.prepare(
            """
            SELECT \(Message.columns), position FROM (SELECT * FROM message WHERE account = ?1 AND body IS NOT NULL
                \(filter) ORDER BY position DESC LIMIT ?2) ORDER BY position
            """
        ).all(values) { (Message($0), $0.integer(12)) }
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
