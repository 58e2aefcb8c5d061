import Glibc

/// The part of a conversation that is held.
public struct Window: Sendable, Equatable {
    /// The row of the first message; nil: the newest messages.
    public var first: Int64?
    public var count: Int

    public init(first: Int64? = nil, count: Int = Window.begin) { (self.first, self.count) = (first, count) }

    /// The first paint.
    public static let begin = 30
    /// What is loaded at an end.
    public static let step = 60
    /// The most messages held.
    public static let most = 300
    /// The most messages held while the newest are in sight.
    public static let mostFollowed = 90
    /// The most messages that come at the end in one frame: each costs half a millisecond, and a key is answered between frames.
    public static let mostArriving = 10
}

/// A part of a conversation, as it was read.
public struct Page: Sendable, Equatable {
    public var messages: [MessageRow] = []
    /// The gaps before the message with this number; behind the last one, at the end.
    public var gaps: [Int: [GapRow]] = [:]
    public var hasOlder = false
    public var hasNewer = false

    public init() {}

    /// Leaves out what has come since `page` was read but the first messages, for the next frame; of messages that are all new, all but
    /// the last.
    /// - Returns: whether newer messages were left out.
    public mutating func limitArrivals(since page: Page) -> Bool {
        let known = Set(page.messages.map(\.id))
        guard let last = messages.lastIndex(where: { known.contains($0.id) }) else {
            let more = messages.count - Window.begin
            guard more > 0 else { return false }
            messages.removeFirst(more)  // traps: never, more than zero and less than all
            gaps = Dictionary(uniqueKeysWithValues: gaps.compactMap { $0.key > more ? ($0.key - more, $0.value) : nil })
            hasOlder = true
            return false
        }
        let end = last + 1 + Window.mostArriving
        guard end < messages.count else { return false }
        messages.removeSubrange(end...)  // traps: never, `end` is a place of the messages
        gaps = gaps.filter { $0.key < end }
        return true
    }
}

/// A place where messages are missing.
public struct GapRow: Sendable, Equatable {
    public enum Kind: Sendable { case missing, lost, unread }
    public let kind: Kind
    /// The stamp of the message after the gap; nil at the end.
    public let before: Int64?
    /// The room with the archive; nil for the account's own archive.
    public let room: String?

    public init(kind: Kind, before: Int64?, room: String?) {
        (self.kind, self.before, self.room) = (kind, before, room)
    }

    public var words: String {
        switch kind {
        case .missing: Words.gapMissing
        case .lost: Words.gapLost
        case .unread: Words.gapUnread
        }
    }
}

/// A row of a conversation.
public enum ThreadRow: Sendable, Equatable {
    /// The first message of a day, in milliseconds since 1970.
    case day(Int64)
    case unread
    case gap(GapRow)
    /// Whether the author is named above the text; whether the message goes on what the message before has begun.
    case message(MessageRow, showsAuthor: Bool, continues: Bool)

    public var message: MessageRow? { if case .message(let row, _, _) = self { row } else { nil } }
}

/// An open conversation.
public struct Thread: Sendable {
    public let key: ConversationKey
    public let isGroup: Bool
    public var window: Window
    public private(set) var page = Page()
    /// The first message that was unread when the conversation was opened.
    public var firstUnread: Int64?
    public private(set) var rows: [ThreadRow] = []

    public init(_ key: ConversationKey, isGroup: Bool, window: Window = Window()) {
        (self.key, self.isGroup, self.window) = (key, isGroup, window)
    }

    /// The part was read anew.
    /// - Returns: the messages of others that have come at the end.
    public mutating func read(_ page: Page) -> [MessageRow] {
        let last = self.page.messages.last { $0.id > 0 }
        let known = Set(self.page.messages.map(\.id))
        let wasRead = self.page.messages.isEmpty == false
        self.page = page
        rows = Self.rows(page, firstUnread: firstUnread, isGroup: isGroup)
        guard wasRead, let last else { return [] }
        let isNew = { (message: MessageRow) in !message.isOwn && !known.contains(message.id) && message.id > last.id }
        // The order of rows decides, not the timestamps: the clock may have been set back.
        if let place = page.messages.lastIndex(where: { $0.id == last.id }) {
            return page.messages[(place + 1)...].filter(isNew)
        }
        return page.messages.filter { isNew($0) && $0.at >= last.at }
    }

    /// The window of what is held, and of what has come since.
    public var held: Window {
        page.messages.first { $0.id > 0 }.map { Window(first: $0.id, count: Window.most) } ?? window
    }

    /// The window for reading on; nil if nothing newer is known.
    public var newer: Window? {
        guard page.hasNewer, page.messages.count > Window.step else { return page.hasNewer ? Window() : nil }
        return Window(first: page.messages[Window.step].id, count: Window.most)
    }

    /// The place of a message's row.
    public func place(of id: Int64) -> Int? { rows.firstIndex { $0.message?.id == id } }

    /// The row at which the conversation opens: the unread line, or the last row.
    public var opening: Int { rows.firstIndex(of: .unread) ?? max(0, rows.count - 1) }

    /// Rows are a function of what was read.
    static func rows(_ page: Page, firstUnread: Int64?, isGroup: Bool) -> [ThreadRow] {
        var rows: [ThreadRow] = []
        var (day, previous): (Int, MessageRow?) = (.min, nil)
        for (number, message) in page.messages.enumerated() {
            // The first held row stays where it is when older ones come before it.
            if previous != nil || !page.hasOlder { rows += (page.gaps[number] ?? []).map(ThreadRow.gap) }
            let today = Days.number(message.at)
            if today != day, previous != nil || !page.hasOlder { rows.append(.day(message.at)) }
            if message.id == firstUnread { rows.append(.unread) }
            let isBreak = today != day || message.id == firstUnread
            let continues =
                !isBreak && previous.map { $0.isSameAuthor(as: message) } ?? false
            rows.append(.message(message, showsAuthor: isGroup && !message.isOwn && !continues, continues: continues))
            (day, previous) = (today, message)
        }
        return rows + (page.gaps[page.messages.count] ?? []).map(ThreadRow.gap)
    }
}

/// Days of the user's time zone.
public enum Days {
    /// A number that is the same for all moments of a day.
    public static func number(_ at: Int64) -> Int {
        var (seconds, parts) = (time_t(at / 1000), tm())
        guard localtime_r(&seconds, &parts) != nil else { return 0 }
        return Int(parts.tm_year) * 400 + Int(parts.tm_yday)
    }
}
