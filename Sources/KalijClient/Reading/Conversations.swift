import KalijAddress
import KalijFeatures
import KalijCore
import KalijStore
import KalijText

/// Reads conversations: the list, and pages of messages; never waits for a running process.
///
/// ```swift
/// let conversations = try Conversations(directory, of: nil)
/// for conversation in try conversations.all() { print(conversation.jid, conversation.unread) }
/// ```
public struct Conversations {
    /// The account.
    public let account: Account
    let reader: HistoryReader
    private let now: Int64
    var database: Database { reader.database }
    var messages: MessageReader { MessageReader(database: database, account: account.id) }

    /// Reads the conversations in `directory`.
    /// - Parameters:
    ///   - directory: the directory of the accounts.
    ///   - jid: the account; nil selects the only account.
    ///   - clock: the source of time, for settings that expire.
    ///   - report: the driver's report (``HistoryReader/report``).
    /// - Throws: `DirectoryError` if the account is missing or ambiguous; `StoreError`.
    public init(
        _ directory: AccountDirectory, of jid: JID? = nil, clock: Clock = .system, report: DriverReport? = nil
    ) throws {
        let database = try directory.read()
        account = try AccountTable(database).account(jid, in: directory)
        var reader = HistoryReader(database)
        reader.report = report
        self.reader = reader
        now = clock.now()
    }

    /// Reads the conversations of `account` on an open connection, for a process that reads often.
    /// - Parameters:
    ///   - database: the directory's database (``AccountDirectory/read()``), used by one thread at a time.
    ///   - account: an account in `database`.
    ///   - clock: the source of time, for settings that expire.
    ///   - report: the driver's report (``HistoryReader/report``).
    public init(
        reading database: Database, of account: Account, clock: Clock = .system, report: DriverReport? = nil
    ) {
        self.account = account
        var reader = HistoryReader(database)
        reader.report = report
        self.reader = reader
        now = clock.now()
    }

    /// A conversation, as a row of a list.
    public struct Conversation: Sendable {
        /// The bare address of the peer; the full address for an occupant of a room.
        public let jid: String
        /// The display name of the peer; nil without a name (``Conversations/Head/name``).
        public let name: String?
        /// Whether the peer is a room.
        public let isRoom: Bool
        /// The path of the verified picture of the peer (``Profile/avatarFile``); nil without one.
        public let picture: String?
        /// The newest message; nil if there is only a draft, or nothing.
        public let last: Message?
        /// The number of unread messages of others; 1000 if there are more.
        public let unread: Int
        /// Whether one of the newest unread messages mentions the account by its nickname in the room.
        public let isMentioned: Bool
        /// The unsent text that the user has typed.
        public let draft: Draft?
        /// What causes notifications, and what is not disclosed to others.
        public let settings: ChatSettings
        /// Whether the conversation is pinned, and whether it is hidden.
        public let placement: ListPlacement
        /// The time of the last activity, a message or the draft, in milliseconds since 1970; for a room without messages the time when the
        /// account first entered it, 0 if it never has.
        public let activeAt: Int64
    }

    /// All conversations that are not hidden, in the order of ``heads(includingHidden:)``.
    /// - Throws: `StoreError`
    public func all() throws -> [Conversation] {
        try database.reading { try readHeads(includingHidden: false).map { try conversation($0.jid) } }
    }

    /// The conversation with `jid`.
    /// - Throws: `StoreError`
    public func conversation(with jid: JID) throws -> Conversation {
        try database.reading { try conversation(name(jid)) }
    }

    private func conversation(_ name: String) throws -> Conversation {
        let last = try messages.page(1, with: name, before: .max).first?.message
        let face = try ConversationFace(name, of: account.id, in: database)
        let unread = try DisplayedPlaces.unread(in: name, of: account.id, in: database)
        let draft = try Draft.load(for: name, of: account.id, in: database)
        let activeAt = [last?.sentAt, draft?.at].compactMap { $0 }.max() ?? face.enteredAt ?? 0
        return Conversation(
            jid: name, name: face.name, isRoom: face.isRoom, picture: face.picture,
            last: try last.flatMap { try reader.waiting([reader.view($0, of: account)], of: account).first },
            unread: unread,
            isMentioned: try face.isRoom && unread > 0 && UnreadMentions.exist(in: name, of: account.id, in: database),
            draft: draft, settings: try settings(name),
            placement: try StoredSettings(database: database, account: account.id).placement(of: name),
            activeAt: activeAt)
    }

    /// The display name of the peer `jid`, as in ``Head/name``.
    /// - Throws: `StoreError`
    public func name(of jid: JID) throws -> String? {
        try database.reading { try ConversationFace(name(jid), of: account.id, in: database).name }
    }

    // MARK: Messages

    /// The newest `limit` messages of a conversation, without gaps (``page(with:at:limit:mailbox:)`` returns them), before the
    /// message in row `id` (``Message/id``), oldest first.
    /// - Parameters:
    ///   - jid: the address of the peer.
    ///   - id: nil for the newest messages.
    ///   - limit: the most messages.
    /// - Throws: `StoreError`
    public func messages(with jid: JID, before id: Int64? = nil, limit: Int) throws -> [Message] {
        try database.reading {
            try shown(try messages.page(limit, with: name(jid), before: try id.flatMap { try position($0) } ?? .max))
        }
    }

    /// The oldest `limit` messages of a conversation after the message in row `id`, oldest first.
    /// - Throws: `StoreError`
    public func messages(with jid: JID, after id: Int64, limit: Int) throws -> [Message] {
        try database.reading {
            try shown(try messages.page(limit, with: name(jid), after: try position(id) ?? .max))
        }
    }

    /// The message in row `id` with at most `limit` messages before and at most `limit` messages after, oldest first.
    /// - Throws: `StoreError`
    public func messages(with jid: JID, around id: Int64, limit: Int) throws -> [Message] {
        try database.reading {
            guard let position = try position(id), position < .max else { return [] }
            let before = try messages.page(limit + 1, with: name(jid), before: position + 1)
            return try shown(before + messages.page(limit, with: name(jid), after: position))
        }
    }

    /// The unread messages of a conversation, oldest first: those that ``Conversation/unread`` counts, at most the oldest 1000.
    /// All are from one snapshot, even while messages arrive.
    /// - Throws: `StoreError`
    public func unread(with jid: JID) throws -> [Message] {
        try database.reading {
            try reader.views(
                DisplayedPlaces.unreadRows(in: name(jid), of: account.id, in: database)
                    .compactMap { try messages.message($0) }, of: account)
        }
    }

    /// The message in row `id`, as it is displayed; nil if there is none.
    /// - Throws: `StoreError`
    public func message(_ id: Int64) throws -> Message? {
        try database.reading { try view(id) }
    }

    func view(_ id: Int64) throws -> Message? {
        try reader.views([messages.message(id)].compactMap { $0 }, of: account).first
    }

    func name(_ jid: JID) throws -> String {
        try RoomRows(database: database, account: account.id).conversation(with: jid)
    }
    private func position(_ id: Int64) throws -> Int64? { try messages.place(of: id)?.position }

    private func shown(_ placed: [MessageReader.Placed]) throws -> [Message] {
        try reader.views(placed.map(\.message), of: account)
    }

    // MARK: Settings

    /// The settings for a conversation.
    /// - Parameter jid: nil for the account's settings, which apply to all conversations without their own.
    /// - Throws: `StoreError`
    public func settings(for jid: JID?) throws -> ChatSettings { try settings(jid.map(name) ?? "") }

    private func settings(_ name: String) throws -> ChatSettings {
        try StoredSettings(database: database, account: account.id).settings(for: name, now: now)
    }

    // MARK: Changes

    /// The messages changed by some events.
    public struct Changes: Sendable {
        /// The messages as they are displayed now, each once, in the order of their last events.
        public let messages: [Message]
        /// The number of the last event, after which the next call starts.
        public let last: Int64
        /// Whether there are no later events.
        public let isComplete: Bool
    }

    /// A page of the messages changed after the event with `number` (``EngineEvent/number``). A message in the state `displayed`
    /// indicates that earlier messages to the same recipient were displayed, too; those have no event.
    /// - Parameter number: the last number that the reader has processed; 0 for all stored events.
    /// - Throws: `EventLogError` as ``EventLog/events(after:limit:)``; `StoreError`.
    public func changes(since number: Int64) throws -> Changes {
        try database.reading {
            let log = try EventLog(reading: database)
            let events = try log.page(after: number)
            let last = events.last?.number ?? number
            var ids: Set<Int64> = []
            let newest = events.reversed().compactMap { event -> Int64? in
                guard event.account == account.jid, let id = (event.content as? any MessageEvent)?.message.id,
                    ids.insert(id).inserted
                else { return nil }
                return id
            }
            let messages = try newest.reversed().compactMap { try self.messages.message($0) }
            return Changes(messages: try reader.views(messages, of: account), last: last, isComplete: events.isEmpty)
        }
    }
}
