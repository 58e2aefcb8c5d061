import KalijAddress
import KalijClient
import KalijRoles
import KalijStore

/// Reads the directory on one open connection, away from the main thread.
public actor Reader {
    public nonisolated let directory: AccountDirectory
    private var opened: Database?
    /// Names, pictures and kinds of conversations, until something about them changes.
    private var faces: [String: Faces] = [:]

    public init(_ directory: AccountDirectory) { self.directory = directory }

    private func database() throws -> Database {
        if let opened { return opened }
        let database = try directory.read()
        opened = database
        return database
    }

    private func accounts() throws -> [Account] {
        try AccountTable(database()).all().filter { $0.state == .active }
    }

    private func conversations(_ account: Account) throws -> Conversations {
        Conversations(reading: try database(), of: account)
    }

    private func faces(of account: Account) throws -> Faces {
        if let known = faces[account.jid.description] { return known }
        let read = try Faces(account, try database())
        faces[account.jid.description] = read
        return read
    }

    /// The addresses of the accounts in use; empty without a directory.
    public func addresses() -> [String] {
        ((try? accounts()) ?? []).map(\.jid.description)
    }

    /// Names have changed.
    public func forgetFaces() { faces = [:] }

    /// Names of one account have changed.
    public func forgetFaces(of account: String) { faces[account] = nil }

    /// The conversations of all accounts, the last active first.
    public func all() throws -> [ConversationRow] {
        let accounts = try accounts()
        var rows: [ConversationRow] = []
        for account in accounts {
            var faces = try faces(of: account)
            for conversation in try conversations(account).all() {
                rows.append(row(conversation, account, &faces))
            }
            self.faces[account.jid.description] = faces
            let known = Set(rows.map(\.key))
            for room in faces.rooms.values {
                let key = ConversationKey(account: account.jid.description, jid: room)
                if !known.contains(key) { rows.append(faces.row(key, try database())) }
            }
        }
        for place in rows.indices { rows[place].showsAccount = accounts.count > 1 }
        return rows.sorted(by: ConversationRow.isBefore)
    }

    /// A single conversation; nil if there is no such account.
    public func conversation(_ key: ConversationKey) throws -> ConversationRow? {
        guard let account = try accounts().first(where: { $0.jid.description == key.account }) else { return nil }
        var faces = try faces(of: account)
        let row = row(try conversations(account).conversation(with: .received(key.jid)), account, &faces)
        self.faces[account.jid.description] = faces
        return row
    }

    private func row(
        _ conversation: Conversations.Conversation, _ account: Account, _ faces: inout Faces
    ) -> ConversationRow {
        let key = ConversationKey(account: account.jid.description, jid: conversation.jid)
        var row = faces.row(key, opened)
        if let last = conversation.last.map({ MessageRow($0, name: row.name) }) {
            let text = last.text.shownLine
            row.preview = last.isOwn ? Words.own(text) : row.isGroup ? Words.said(last.author, text) : text
            row.isFailed = last.state?.isProblem ?? false
        }
        row.at = max(conversation.last?.sentAt ?? 0, conversation.draft?.at ?? 0)
        row.unread = conversation.unread
        row.draft = conversation.draft?.body.shownLine
        row.isMuted = conversation.settings.mutedUntil != nil || conversation.settings.notify == NotifyChoice.none
        return row
    }

    /// What was begun to be written to a conversation, whole.
    public func draft(_ key: ConversationKey) throws -> String {
        guard let account = try accounts().first(where: { $0.jid.description == key.account }) else { return "" }
        return try conversations(account).conversation(with: .received(key.jid)).draft?.body ?? ""
    }

    /// The first unread message.
    public func firstUnread(_ key: ConversationKey) throws -> Int64? {
        guard let account = try accounts().first(where: { $0.jid.description == key.account }) else { return nil }
        let conversations = try conversations(account)
        guard try conversations.conversation(with: .received(key.jid)).unread > 0 else { return nil }
        return try conversations.unread(with: .received(key.jid)).first?.id
    }

    /// A window of `before` messages before the message `id`, and what follows; nil if the message is gone.
    public func window(_ key: ConversationKey, before: Int, _ id: Int64) throws -> Window? {
        guard let account = try accounts().first(where: { $0.jid.description == key.account }) else { return nil }
        let conversations = try conversations(account)
        guard try conversations.message(id)?.conversation == key.jid else { return nil }
        let first = try conversations.messages(with: .received(key.jid), before: id, limit: before).first?.id
        return Window(first: first ?? id, count: Window.most)
    }

    /// A part of a conversation.
    /// - Parameter waiting: whether messages in the mailbox are read, too: while another process drives.
    public func page(_ key: ConversationKey, _ window: Window, waiting: Bool) throws -> Page {
        guard let account = try accounts().first(where: { $0.jid.description == key.account }) else { return Page() }
        let jid = JID.received(key.jid)
        let name = try faces(of: account).name(key, opened)
        var (messages, page) = (try stored(account, jid, window), Page())
        (page.hasOlder, page.hasNewer) = (messages.hasOlder, messages.hasNewer)
        if waiting, !page.hasNewer {
            let newest = try HistoryReader(directory).messages(of: account, with: jid, limit: Window.begin)
            messages.rows += newest.filter { $0.id < 0 }
        }
        page.messages = messages.rows.map { MessageRow($0, name: name) }
        page.gaps = try gaps(account, key)
        return page
    }

    private func stored(
        _ account: Account, _ jid: JID, _ window: Window
    ) throws -> (rows: [Message], hasOlder: Bool, hasNewer: Bool) {
        let conversations = try conversations(account)
        if let id = window.first, let first = try conversations.message(id) {
            let rows = [first] + (try conversations.messages(with: jid, after: id, limit: window.count))
            let hasOlder = try !conversations.messages(with: jid, before: id, limit: 1).isEmpty
            return (Array(rows.prefix(window.count)), hasOlder, rows.count > window.count)
        }
        let rows = try conversations.messages(with: jid, limit: window.count + 1)
        return (Array(rows.suffix(window.count)), rows.count > window.count, false)
    }

    private func gaps(_ account: Account, _ key: ConversationKey) throws -> [GapRow] {
        try HistoryReader(database()).gaps(of: account).compactMap { gap in
            guard gap.room == nil || gap.room?.description == key.jid else { return nil }
            let kind: GapRow.Kind
            switch gap.reason {
            case .notFetched: kind = .missing
            case .lost: kind = .lost
            case .unread: kind = .unread
            case .reading: return nil
            }
            return GapRow(kind: kind, before: gap.before, room: gap.room?.description)
        }
    }
}

/// The names and pictures of an account's conversations.
struct Faces {
    private let account: Account
    private var names: [String: String] = [:]
    private var pictures: [String: String] = [:]
    private var asked: Set<String> = []
    private var groups: Set<String> = []
    /// Rooms where the account wants to be.
    private(set) var rooms: [String: String] = [:]

    init(_ account: Account, _ database: Database) throws {
        self.account = account
        for contact in try Contacts(database).contacts(of: account) {
            if let name = contact.name { names[contact.jid.description] = name.shownName }
        }
        for room in try Rooms(database).rooms(of: account) {
            let jid = room.jid.description
            if let name = room.name, !name.isEmpty { names[jid] = name.shownName }
            groups.insert(jid)
            if room.isWanted { rooms[jid] = jid }
        }
    }

    /// A conversation without anything said.
    mutating func row(_ key: ConversationKey, _ database: Database?) -> ConversationRow {
        ask(key.jid, database)
        var row = ConversationRow(key: key, name: names[key.jid] ?? key.jid.shownName)
        row.picture = pictures[key.jid]
        row.isGroup = groups.contains(key.jid)
        return row
    }

    func name(_ key: ConversationKey, _ database: Database?) -> String {
        var copy = self
        return copy.row(key, database).name
    }

    /// What the other side says about itself: one question for each conversation.
    private mutating func ask(_ jid: String, _ database: Database?) {
        guard let database, !groups.contains(jid), asked.insert(jid).inserted else { return }
        guard let profile = try? Contacts(database).profile(of: .received(jid), for: account) else { return }
        if names[jid] == nil, let name = profile.name, !name.isEmpty { names[jid] = name.shownName }
        if let file = profile.avatarFile { pictures[jid] = file }
    }
}
