import KalijAddress
import KalijCore
import KalijStore

/// Information that is sent to others, unless the user has disabled it.
public enum OnlineDisclosure: String, Sendable, CaseIterable {
    /// That a message was received (XEP-0184).
    case receipts
    /// That a message was displayed (XEP-0333).
    case markers
    /// That the user is writing (XEP-0085).
    case typing
}

/// The messages that cause notifications.
public enum NotifyChoice: Sendable, Equatable {
    /// All messages.
    case all
    /// In rooms, only messages that mention the user.
    case mentions
    /// None.
    case none
    /// None until a time, in milliseconds since 1970. Afterwards the former choice applies.
    case mutedUntil(Int64)
}

/// The effective settings of a conversation, or of an account.
public struct ChatSettings: Sendable, Equatable {
    /// The disabled disclosures.
    public let off: Set<OnlineDisclosure>
    /// The messages that cause notifications: ``NotifyChoice/all``, ``NotifyChoice/mentions`` or ``NotifyChoice/none``.
    public let notify: NotifyChoice
    /// The end of a period of silence, in milliseconds since 1970; nil if it has passed, or was not set.
    public let mutedUntil: Int64?
    /// Whether notifications contain the sender and the text.
    public let preview: Bool
    /// Whether small files of people whom the user has written to are downloaded automatically.
    public let downloads: Bool

    /// Without any choice of the user's.
    fileprivate static let unchosen = ChatSettings(
        off: [], notify: .all, mutedUntil: nil, preview: true, downloads: true)

    /// Whether a message causes a notification now.
    /// - Parameter isMeant: whether the message addresses the user: in a room, by a mention.
    package func notifies(isMeant: Bool) -> Bool {
        guard mutedUntil == nil else { return false }
        return switch notify {
        case .all: true
        case .mentions: isMeant
        case .none, .mutedUntil: false
        }
    }
}

extension SparseTable {
    fileprivate static let setting = SparseTable(anyRow: "SELECT 1 FROM setting LIMIT 1")
}

/// The stored settings of an account.
package struct StoredSettings {
    package let database: Database
    package let account: Int64

    package init(database: Database, account: Int64) { (self.database, self.account) = (database, account) }

    private static let (notify, muted, preview, downloads) = ("notify", "muted", "preview", "downloads")

    /// The settings for `conversation`; if nil, those of the account.
    package func settings(for conversation: String?, now: Int64) throws -> ChatSettings {
        guard try !database.isKnownEmpty(.setting) else { return .unchosen }
        let rows = try database.statement(
            """
            SELECT name, value, 0 AS is_own FROM setting WHERE account = ?1 AND conversation = ''
            UNION ALL SELECT name, value, 1 FROM setting WHERE account = ?1 AND conversation = ?2
            """
        ).all([.integer(account), .optional(conversation)]) {
            (name: $0.text("name"), value: $0.text("value"), isOwn: $0.bool("is_own"))
        }
        guard !rows.isEmpty else { return .unchosen }
        // A setting of the conversation has precedence.
        let values = Dictionary((rows.filter { !$0.isOwn } + rows.filter(\.isOwn)).map { ($0.name, $0.value) }) { $1 }
        return ChatSettings(
            off: Set(OnlineDisclosure.allCases.filter { values[$0.rawValue] == "off" }),
            notify: values[Self.notify].map(Self.choice) ?? .all,
            mutedUntil: values[Self.muted].flatMap { Int64($0) }.flatMap { $0 > now ? $0 : nil },
            preview: values[Self.preview] != "off", downloads: values[Self.downloads] != "off")
    }

    /// Whether notifications contain the sender and the text of messages in `conversation`.
    func showsText(of conversation: String) throws -> Bool { try settings(for: conversation, now: 0).preview }

    func set(preview isOn: Bool, for conversation: String?) throws {
        try set(Self.preview, isOn ? "on" : "off", for: conversation)
    }

    func set(downloads isOn: Bool, for conversation: String?) throws {
        try set(Self.downloads, isOn ? "on" : "off", for: conversation)
    }

    /// The messages that cause notifications in `conversation` alone: ``NotifyChoice/all``, ``NotifyChoice/mentions`` or
    /// ``NotifyChoice/none``; nil without a choice of its own.
    func choice(for conversation: String) throws -> NotifyChoice? {
        let value = try database.statement(
            "SELECT value FROM setting WHERE account = ? AND conversation = ? AND name = ?"
        ).first([.integer(account), .text(conversation), .text(Self.notify)]) { $0.text("value") }
        return value.map(Self.choice)
    }

    /// Replaces the choice of `conversation` by that of another device; a period of silence continues. Without a choice, that of
    /// the account applies.
    func replaceChoice(by choice: NotifyChoice?, for conversation: String) throws {
        if let choice { return try set(Self.notify, Self.value(choice), for: conversation) }
        try database.run(
            "DELETE FROM setting WHERE account = ? AND conversation = ? AND name = ?",
            [.integer(account), .text(conversation), .text(Self.notify)])
    }

    private static func value(_ choice: NotifyChoice) -> String {
        switch choice {
        case .all, .mutedUntil: "all"
        case .mentions: "mentions"
        case .none: "none"
        }
    }

    private static func choice(_ value: String) -> NotifyChoice {
        switch value {
        case "mentions": .mentions
        case "none": .none
        default: .all
        }
    }

    func set(_ disclosure: OnlineDisclosure, _ isOn: Bool, for conversation: String?) throws {
        try set(disclosure.rawValue, isOn ? "on" : "off", for: conversation)
    }

    func set(_ choice: NotifyChoice, for conversation: String?) throws {
        if case .mutedUntil(let time) = choice { return try set(Self.muted, "\(time)", for: conversation) }
        try set(Self.notify, Self.value(choice), for: conversation)
        try set(Self.muted, "0", for: conversation)
    }

    func set(_ name: String, _ value: String, for conversation: String?) throws {
        try database.run(
            "INSERT OR REPLACE INTO setting(account, conversation, name, value) VALUES (?, ?, ?, ?)",
            [.integer(account), .text(conversation ?? ""), .text(name), .text(value)], into: .setting)
    }
}

extension Step {
    /// The settings for the conversation with `contact`.
    func settings(with contact: JID) throws -> ChatSettings {
        try settings(for: RoomRows(database: database, account: account.id).conversation(with: contact))
    }

    /// The settings for the conversation with this name.
    package func settings(for conversation: String) throws -> ChatSettings {
        try StoredSettings(database: database, account: account.id).settings(for: conversation, now: now)
    }
}
