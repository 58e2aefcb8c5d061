import KalijAddress
import KalijClient
import KalijCoordination
import KalijStore

/// Reads the directory on one open connection, outside of the main thread.
public actor Reader {
    public nonisolated let directory: AccountDirectory
    private var opened: Database?
    /// The people that ``people(of:)`` has read, by account.
    var known: [Int64: (people: People, at: ContinuousClock.Instant)] = [:]

    public init(_ directory: AccountDirectory) { self.directory = directory }

    func database() throws -> Database {
        if let opened { return opened }
        let database = try directory.read()
        opened = database
        return database
    }

    func accounts() throws -> [Account] {
        try AccountTable(database()).all().filter { $0.state == .active }
    }

    func account(of key: ConversationKey) throws -> Account? {
        try accounts().first { $0.jid.description == key.account }
    }

    func conversations(_ account: Account) throws -> Conversations {
        Conversations(reading: try database(), of: account)
    }

    /// The addresses of the active accounts; empty without a directory.
    /// - Throws: `StoreError`, `.newerVersion` among them, if the accounts cannot be read.
    public func addresses() throws -> [String] {
        do { return try accounts().map(\.jid.description) } catch DirectoryError.noAccount { return [] }
    }

    /// All conversations of all accounts in the order of the list, hidden ones too, without their content.
    public func heads() throws -> [ConversationRow] {
        let accounts = try accounts()
        return try accounts.flatMap { account in
            let creations = try self.creations(of: account)
            let rooms = Set(creations.compactMap { $0.creation?.room })
            return try conversations(account).heads(includingHidden: true).filter { !rooms.contains($0.jid) }
                .map { row($0, of: account, showsAccount: accounts.count > 1) } + creations
        }.sorted(by: ConversationRow.isBefore)
    }

    private func row(_ head: Conversations.Head, of account: Account, showsAccount: Bool) -> ConversationRow {
        let key = ConversationKey(account: account.jid.description, jid: head.jid)
        var row = ConversationRow(key: key, name: head.name?.shownName ?? head.jid.shownName)
        (row.at, row.isGroup, row.showsAccount) = (head.activeAt, head.isRoom, showsAccount)
        (row.isPinned, row.isHidden) = (head.placement.isPinned, head.placement.isHidden)
        return row
    }

    /// Reads some conversations completely; omits those of removed accounts.
    public func rows(_ keys: some Collection<ConversationKey>) throws -> [ConversationRow] {
        let accounts = try accounts()
        let creations = try accounts.flatMap { try self.creations(of: $0) }
        return try keys.compactMap { key in
            guard let account = accounts.first(where: { $0.jid.description == key.account }) else { return nil }
            if let creation = creations.first(where: { $0.represents(key) }) { return creation }
            let people = try people(of: account)
            var row = row(try conversations(account).conversation(with: .received(key.jid)), key, people)
            row.showsAccount = accounts.count > 1
            return row
        }
    }

    /// A single conversation; nil if there is no such account.
    public func conversation(_ key: ConversationKey) throws -> ConversationRow? { try rows([key]).first }

    private func row(
        _ conversation: Conversations.Conversation, _ key: ConversationKey, _ people: People
    ) -> ConversationRow {
        var row = ConversationRow(key: key, name: conversation.name?.shownName ?? key.jid.shownName)
        (row.picture, row.isGroup) = (conversation.picture, conversation.isRoom)
        if let last = conversation.last.map({
            MessageRow($0, name: row.name, account: key.account, people: people)
        }) {
            let text = last.text.shownLine
            row.preview = last.isOwn ? Words.own(text) : row.isGroup ? Words.said(last.author, text) : text
            row.isFailed = last.state?.isProblem ?? false
        }
        row.at = conversation.activeAt
        (row.unread, row.isMentioned) = (conversation.unread, conversation.isMentioned)
        row.draft = conversation.draft?.body.shownLine
        (row.notify, row.mutedUntil) = (conversation.settings.notify, conversation.settings.mutedUntil)
        row.newest = conversation.last?.id
        (row.isPinned, row.isHidden) = (conversation.placement.isPinned, conversation.placement.isHidden)
        return row
    }

    /// Why an intent has failed; nil if it has not, or not yet.
    public func failure(of intent: String, of account: String) throws -> String? {
        guard let account = try accounts().first(where: { $0.jid.description == account }),
            case .failed(let reason) = try HistoryReader(database()).outcome(of: intent, by: account)
        else { return nil }
        return reason
    }

    /// The complete text of a message; nil if it has none.
    public func body(of id: Int64, in key: ConversationKey) throws -> String? {
        guard let account = try account(of: key) else { return nil }
        return try conversations(account).message(id)?.body
    }

    /// The newest message of the user's that can be corrected.
    public func lastCorrectable(in key: ConversationKey) throws -> MessageRow? {
        try page(key, Window(), waiting: false).messages.last { $0.actions.contains(.correct) }
    }

    /// The first unread message.
    public func firstUnread(_ key: ConversationKey) throws -> Int64? {
        guard let account = try account(of: key) else { return nil }
        let conversations = try conversations(account)
        guard try conversations.conversation(with: .received(key.jid)).unread > 0 else { return nil }
        return try conversations.unread(with: .received(key.jid)).first?.id
    }

    /// A window of `before` messages before the message `id`, and the following ones; nil if the message no longer exists.
    public func window(_ key: ConversationKey, before: Int, _ id: Int64) throws -> Window? {
        guard let account = try account(of: key),
            let older = try conversations(account).page(with: .received(key.jid), at: .before(id), limit: before)
        else { return nil }
        return Window(first: older.messages.first?.id ?? id, count: Window.most)
    }

    /// A part of a conversation; the newest one if the window's message no longer exists.
    /// - Parameter waiting: whether to include messages in the mailbox, while another process drives.
    public func page(_ key: ConversationKey, _ window: Window, waiting: Bool) throws -> Page {
        guard let account = try account(of: key) else { return Page() }
        let (conversations, jid) = (try conversations(account), JID.received(key.jid))
        let name = try conversations.name(of: jid)?.shownName ?? key.jid.shownName
        func read(_ place: ConversationPage.Place) throws -> ConversationPage? {
            try conversations.page(with: jid, at: place, limit: window.count, mailbox: waiting ? directory : nil)
        }
        let found = try window.first.flatMap { try read(.from($0)) } ?? read(.newest)
        let people = try people(of: account)
        var page = found.map { Page($0, name: name, account: key.account, people: people) } ?? Page()
        let keys = try ConversationKeys.load(of: account, with: jid, from: database())
        try page.show(keys, of: key.account) { try ($0 == jid ? name : nameOf($0, conversations)).shownAuthor }
        return page
    }

    private func nameOf(_ jid: JID, _ conversations: Conversations) throws -> String {
        (try conversations.name(of: jid) ?? jid.description).shownName
    }
}

extension Page {
    /// - Parameters:
    ///   - name: the name of the peer.
    ///   - account: the bare address of the account.
    ///   - people: the known people, for the authors in a room.
    init(_ page: ConversationPage, name: String, account: String, people: People) {
        (hasOlder, hasNewer) = (page.hasOlder, page.hasNewer)
        for entry in page.entries {
            switch entry {
            case .message(let message):
                messages.append(MessageRow(message, name: name, account: account, people: people))
            case .gap(let gap): if let row = GapRow(gap) { gaps[messages.count, default: []].append(row) }
            }
        }
        show(page.beginning)
        add(page.uploads)
    }
}

extension GapRow {
    /// Nil for a gap that is being read.
    init?(_ gap: HistoryGap) {
        let kind: Kind
        switch gap.reason {
        case .notFetched: kind = .missing
        case .lost: kind = .lost
        case .unread: kind = .unread
        case .reading: return nil
        }
        self.init(kind: kind, before: gap.before, room: gap.room?.description)
    }
}
