import Glibc

/// The loaded part of a conversation.
public struct Window: Sendable, Equatable {
    /// The row of the first message; nil for the newest messages.
    public var first: Int64?
    public var count: Int

    public init(first: Int64? = nil, count: Int = Window.begin) { (self.first, self.count) = (first, count) }

    /// The number of messages in the first frame.
    public static let begin = 30
    /// The number of messages on each side of one in the middle, at least, that fill a view of this height.
    /// - Parameter height: in pixels.
    public static func beside(height: Int) -> Int { min(begin, max(1, height / (2 * leastHeight) + 1)) }
    /// The height of a message of one line.
    private static let leastHeight = 40
    /// The number of messages loaded at an end.
    public static let step = 60
    /// The maximum number of loaded messages.
    public static let most = 300
    /// The maximum number of loaded messages while the newest are visible.
    public static let mostFollowed = 90
    /// The maximum number of messages added at the end in one frame: each takes half a millisecond, and keys are handled between
    /// frames.
    public static let mostArriving = 10
}

/// A part of a conversation, from a single snapshot.
public struct Page: Sendable, Equatable {
    public var messages: [MessageRow] = []
    /// The gaps before the message with this index; after the last index, those at the end.
    public var gaps: [Int: [GapRow]] = [:]
    public var hasOlder = false
    public var hasNewer = false
    /// What precedes the first message, if that is the oldest stored one; nil without an archive.
    public var beginning: Beginning?
    /// Whether the user's messages are encrypted.
    public var isEncrypted = false
    /// Whether nobody has keys, so that nothing can be sent.
    public var isKeyless = false
    /// The new devices of the conversation, in the order of their times.
    public var lines: [KeyLine] = []

    public init() {}

    /// Limits the messages that arrived since `page` was read to the first ones; the others follow in the next frame. If all
    /// messages are new, keeps the last ones.
    /// - Returns: whether newer messages were dropped.
    public mutating func limitArrivals(since page: Page) -> Bool {
        let known = Set(page.messages.map(\.id))
        guard let last = messages.lastIndex(where: { known.contains($0.id) }) else {
            let more = messages.count - Window.begin
            guard more > 0 else { return false }
            messages.removeFirst(more)  // traps: never, more than zero and less than all
            gaps = Dictionary(uniqueKeysWithValues: gaps.compactMap { $0.key > more ? ($0.key - more, $0.value) : nil })
            (hasOlder, beginning) = (true, nil)
            return false
        }
        let end = last + 1 + Window.mostArriving
        guard end < messages.count else { return false }
        messages.removeSubrange(end...)  // traps: never, `end` is an index of the messages
        gaps = gaps.filter { $0.key < end }
        return true
    }
}

/// A gap between messages.
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
    case beginning(Beginning)
    /// The first message of a day, in milliseconds since 1970.
    case day(Int64)
    case unread
    case gap(GapRow)
    case keys(KeyLine)
    /// `showsAuthor`: whether the author is displayed above the text; `continues`: whether the message continues the previous one
    /// of the same author.
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
    /// The transferred bytes of the files in progress, which the driver publishes and does not store.
    private var transferred: [String: Int64] = [:]
    /// Whether a page was read, perhaps an empty one.
    private var isRead = false

    public init(_ key: ConversationKey, isGroup: Bool, window: Window = Window()) {
        (self.key, self.isGroup, self.window) = (key, isGroup, window)
    }

    /// The part was read again.
    /// - Returns: the messages of others that were added at the end.
    public mutating func read(_ page: Page) -> [MessageRow] {
        let last = self.page.messages.last { $0.id > 0 }
        let known = Set(self.page.messages.map(\.id))
        let wasRead = isRead
        isRead = true
        self.page = page
        resumeProgress()
        rows = Self.rows(self.page, firstUnread: firstUnread, isGroup: isGroup)
        guard wasRead else { return [] }
        guard let last else {
            // The first messages of a conversation; more at once are its history.
            return page.messages.count <= Window.mostArriving ? page.messages.filter { !$0.isOwn && $0.id > 0 } : []
        }
        let isNew = { (message: MessageRow) in !message.isOwn && !known.contains(message.id) && message.id > last.id }
        // The order of rows is decisive, not the timestamps: the clock may have been set back.
        if let place = page.messages.lastIndex(where: { $0.id == last.id }) {
            return page.messages[(place + 1)...].filter(isNew)
        }
        return page.messages.filter { isNew($0) && $0.at >= last.at }
    }

    /// More of a file was transferred.
    /// - Returns: whether a row displays it.
    public mutating func moved(_ transfer: String, to bytes: Int64) -> Bool {
        guard let place = page.messages.lastIndex(where: { $0.transfer == transfer }) else { return false }
        transferred[transfer] = bytes
        page.messages[place].moved(to: bytes)
        rows = Self.rows(page, firstUnread: firstUnread, isGroup: isGroup)
        return true
    }

    /// The page was read again: files in progress keep their progress.
    private mutating func resumeProgress() {
        guard !transferred.isEmpty else { return }
        var left: [String: Int64] = [:]
        for (place, message) in page.messages.enumerated() {
            guard let key = message.transfer, let bytes = transferred[key], case .moving = message.file?.state
            else { continue }
            left[key] = bytes
            page.messages[place].moved(to: bytes)
        }
        transferred = left
    }

    /// The window of the loaded messages, and of those that arrived since.
    public var held: Window {
        page.messages.first { $0.id > 0 }.map { Window(first: $0.id, count: Window.most) } ?? window
    }

    /// The window for loading newer messages; nil if there are none.
    public var newer: Window? {
        guard page.hasNewer, page.messages.count > Window.step else { return page.hasNewer ? Window() : nil }
        // Around a message that a search has found.
        if page.messages.count + Window.step <= Window.most, let first = page.messages.first?.id {
            return Window(first: first, count: page.messages.count + Window.step)
        }
        return Window(first: page.messages[Window.step].id, count: Window.most)
    }

    /// The oldest stored message, if older ones are to be requested when the user reaches it; nil if not.
    public var oldest: Int64? {
        guard page.beginning == .available else { return nil }
        return page.messages.first { $0.id > 0 }?.id ?? 0
    }

    /// The index of a message's row.
    public func place(of id: Int64) -> Int? { rows.firstIndex { $0.message?.id == id } }

    /// The row to which the conversation opens: the unread line, or the last row.
    public var opening: Int { rows.firstIndex(of: .unread) ?? max(0, rows.count - 1) }

    /// The rows, a function of the page.
    static func rows(_ page: Page, firstUnread: Int64?, isGroup: Bool) -> [ThreadRow] {
        var rows = page.beginning.map { [ThreadRow.beginning($0)] } ?? []
        let lines = page.lines.isEmpty ? [:] : page.placedLines
        var (day, previous): (Int, MessageRow?) = (.min, nil)
        for (number, message) in page.messages.enumerated() {
            // The first loaded row remains unchanged when older ones are inserted before it.
            if previous != nil || !page.hasOlder { rows += (page.gaps[number] ?? []).map(ThreadRow.gap) }
            let today = Days.number(message.at)
            if today != day, previous != nil || !page.hasOlder { rows.append(.day(message.at)) }
            if message.id == firstUnread { rows.append(.unread) }
            rows += (lines[number] ?? []).map(ThreadRow.keys)
            let isBreak = today != day || message.id == firstUnread || lines[number] != nil
            let continues =
                !isBreak && previous.map { $0.isSameAuthor(as: message) } ?? false
            rows.append(.message(message, showsAuthor: isGroup && !message.isOwn && !continues, continues: continues))
            (day, previous) = (today, message)
        }
        return rows + (page.gaps[page.messages.count] ?? []).map(ThreadRow.gap)
            + (lines[page.messages.count] ?? []).map(ThreadRow.keys)
    }
}

/// Days in the user's time zone.
public enum Days {
    /// A number that is equal for all times of a day.
    public static func number(_ at: Int64) -> Int {
        var (seconds, parts) = (time_t(at / 1000), tm())
        guard localtime_r(&seconds, &parts) != nil else { return 0 }
        return Int(parts.tm_year) * 400 + Int(parts.tm_yday)
    }
}
