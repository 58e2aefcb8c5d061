import KalijCore
import KalijFeatures
import KalijAddress
import KalijStore
import KalijText

/// Reads stored messages; never waits for a running process.
public struct HistoryReader {
    let database: Database
    private let shared: MailboxReader?
    /// The driver's report, for what queued messages wait for (``Message/waitsFor``). Without it, and with a driver, a connection is assumed.
    public var report: DriverReport?

    /// - Parameter shared: the mailbox, read before the database.
    init(_ database: Database, shared: MailboxReader?) { (self.database, self.shared) = (database, shared) }

    /// Reads the messages in `database`.
    public init(_ database: Database) {
        self.database = database
        shared = nil
    }

    /// Reads the messages in `directory` now, including messages that other processes have enqueued in the mailbox.
    /// - Throws: `DirectoryError.noAccount`, `StoreError`
    public init(_ directory: AccountDirectory) throws {
        shared = try MailboxReader(directory.path)
        database = try directory.read()
    }

    /// Why the mailbox's messages are not returned: the mailbox is damaged. Nil if it is intact.
    public var mailboxDamage: String? { shared?.damage }

    /// The newest `limit` messages with a body, oldest first: in the order of the archive where it is determined, else in the
    /// order of arrival.
    /// - Parameters:
    ///   - conversation: only messages with this address; nil for all.
    ///   - account: the account.
    ///   - limit: the maximum number of messages.
    public func messages(of account: Account, with conversation: JID?, limit: Int) throws -> [Message] {
        // A single read transaction, so that both are from one snapshot.
        try database.reading {
            let placed = try placed(of: account, with: conversation, limit: limit).map(\.message)
            let newest = Array((placed + (try waiting(of: account, with: conversation))).suffix(limit))
            return try views(newest, of: account)
        }
    }

    /// The pending messages in the mailbox, which are sent after all messages in the database.
    func waiting(of account: Account, with conversation: JID?) throws -> [Message] {
        guard let shared else { return [] }
        let messages = try shared.messages(of: account, besides: database)
        guard let conversation else { return messages }
        let rooms = RoomRows(database: database, account: account.id)
        let name = try rooms.conversation(with: conversation)
        return try messages.filter { try rooms.conversation(with: JID($0.to)).exact == name.exact }
    }

    private func placed(of account: Account, with conversation: JID?, limit: Int) throws -> [MessageReader.Placed] {
        let rooms = RoomRows(database: database, account: account.id)
        return try MessageReader(database: database, account: account.id)
            .newest(limit, with: conversation.map { try rooms.conversation(with: $0) })
    }

    /// The message as it is displayed.
    func view(_ message: Message, of account: Account) throws -> Message {
        try message.withReactions(in: database).withFile(in: database).withDisplayed(by: account.id, in: database)
    }

    /// The messages as they are displayed, with the messages that they reply to.
    func views(_ messages: [Message], of account: Account) throws -> [Message] {
        let read = try GroupReaders.added(
            to: messages.map { $0.id > 0 ? try view($0, of: account) : $0 }, of: account, in: database)
        return try quoting(waiting(read, of: account), of: account)
    }

    /// The messages with what the queued ones wait for.
    func waiting(_ messages: [Message], of account: Account) throws -> [Message] {
        try WaitReasons(account: account, database: database, state: report?.state(of: account.jid)).added(to: messages)
    }

    /// The messages with the messages that they reply to.
    func quoting(_ messages: [Message], of account: Account) throws -> [Message] {
        try QuotedMessages(database: database, account: account.id)
            .added(to: messages, fileNames: ReceivedFileRows(database: database).names)
    }

    /// A message, or a gap.
    public enum Entry: Sendable, Equatable {
        /// A message.
        case message(Message)
        /// Messages are missing here, or may be missing.
        case gap(HistoryGap)
    }

    /// The newest `limit` messages with a body, as in ``messages(of:with:limit:)``, and the gaps before, between and after them.
    /// - Parameters:
    ///   - conversation: only messages with this address; nil for all.
    ///   - account: the account.
    ///   - limit: the maximum number of messages.
    public func entries(of account: Account, with conversation: JID?, limit: Int) throws -> [Entry] {
        // A single read transaction, so that both are from one snapshot.
        try database.reading {
            let limit = min(max(limit, 0), 1_000_000_000)
            let waiting = try waiting(of: account, with: conversation).suffix(limit)
            let most = limit - waiting.count
            let newest = try placed(of: account, with: conversation, limit: most + 1)
            return try entries(.newest(newest, most), waiting: Array(waiting), of: account, with: conversation)
        }
    }

    /// The messages of `part` with the gaps between them, followed by the pending messages.
    func entries(
        _ part: HistoryPart, waiting: [Message], of account: Account, with conversation: JID?
    ) throws -> [Entry] {
        let archives = conversation.map { [Archive(room: $0), Archive.own] }
        var gaps = try gaps(of: account, in: archives).compactMap {
            try $0.moved(with: conversation, of: account, in: database)
        }
        .sorted { $0.position < $1.position }.filter(part.holds)
        let messages = try views(part.messages.map(\.message) + waiting, of: account)
        var entries: [Entry] = []
        for (message, (_, position)) in zip(messages, part.messages) {
            while let gap = gaps.first, gap.position <= position { entries.append(.gap(gaps.removeFirst())) }
            entries.append(.message(message))
        }
        return entries + gaps.map(Entry.gap) + messages.dropFirst(part.messages.count).map(Entry.message)
    }
}
