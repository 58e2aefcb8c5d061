import KalijAddress
import KalijClient
import KalijText

enum ChatsCommand: Command {
    static let name = "chats"
    static let usage = "[--limit N] [--hidden] [--account JID]"
    static let summary = "list conversations"
    static let details = """
        Lists the conversations, pinned ones first, then the last active first, with the rooms of the account: the address, the name, how many messages are unread (1000 if there are
        more), the newest message, and the text begun in an application. Reads the database only; a running process is not disturbed. Exit status 1 if
        there are no conversations.

        With --json each line is a conversation; `last` is the newest message as in `kalij history --json`:
          {"event":"chat","account":"juliet@example.org","conversation":"romeo@example.net",
           "name":"Romeo","room":false,"unread":2,"notify":"all","muted_until":"...","draft":"...",
           "pinned":true,"hidden":false,"last":{...}}
        """
    static let options: [Arguments.Option] = [
        .value("--limit", "N", "list at most N conversations (default 100)"),
        .flag("--hidden", "list those that are hidden, too (kalij settings JID hidden=on)"),
        .value("--account", "JID", "list this account's conversations, if several are stored"),
    ]

    static func run(_ arguments: Arguments, _ shared: SharedOptions) throws -> ExitStatus {
        try arguments.expect(0...0)
        let limit = try arguments.integer("--limit", in: 1...1_000_000_000) ?? 100
        let database = try shared.directory.read()
        let jid = try arguments.value("--account").map { try JID($0) }
        let account = try AccountTable(database).account(jid, in: shared.directory)
        let report = try DriverReport(of: shared.directory, ifQueuedIn: database, by: [account])
        let conversations = Conversations(reading: database, of: account, report: report)
        let heads = try conversations.heads(includingHidden: arguments.has("--hidden")).prefix(limit)
        for conversation in try heads.map({ try conversations.conversation(with: .received($0.jid)) }) {
            let record = ChatRecord(conversation, account: conversations.account.jid.description)
            Output.line(shared.json ? try JSONLine.of(record) : record.line(shared.clock))
        }
        return heads.isEmpty ? .nothing : .done
    }
}

/// A conversation in JSON, or as a line.
struct ChatRecord: Encodable {
    private let event = "chat"
    private let account: String
    private let conversation: String
    private let name: String?
    private let room: Bool
    private let unread: Int
    private let notify: String
    private let mutedUntil: String?
    private let draft: String?
    private let pinned: Bool
    private let hidden: Bool
    private let last: EventRecord?
    private let text: PrintedText
    private let newest: Message?

    private enum CodingKeys: String, CodingKey {
        case event, account, conversation, name, room, unread, notify, draft, pinned, hidden, last
        case mutedUntil = "muted_until"
    }

    init(_ conversation: Conversations.Conversation, account: String) {
        self.account = account
        self.conversation = conversation.jid
        (name, room) = (conversation.name, conversation.isRoom)
        unread = conversation.unread
        notify = conversation.settings.notify.name
        mutedUntil = conversation.settings.mutedUntil.map { Stamp.of($0) }
        draft = conversation.draft?.body
        (pinned, hidden) = (conversation.placement.isPinned, conversation.placement.isHidden)
        last = conversation.last.map { EventRecord($0, account: account, at: $0.sentAt) }
        let isQuiet = conversation.settings.mutedUntil != nil || conversation.settings.notify == .none
        var words: PrintedText = "\(conversation.jid)"
        if let name { words += ", \"\(name)\"" }
        if unread > 0 { words += unread < 1000 ? " (\(unread) unread)" : " (1000 or more unread)" }
        if isQuiet { words += " (muted)" }
        if pinned { words += " (pinned)" }
        if hidden { words += " (hidden)" }
        if let draft { words += " (draft: \(draft))" }
        self.text = words
        newest = conversation.last
    }

    func line(_ clock: WallClock) -> PrintedText {
        newest.map { "\(text): \($0.line(clock))" } ?? text
    }
}

extension NotifyChoice {
    /// The choice's word on the command line.
    var name: String {
        switch self {
        case .all: "all"
        case .mentions: "mentions"
        case .none, .mutedUntil: "none"
        }
    }
}
