import KalijAddress
import KalijCore
import KalijText

extension EventKey {
    /// The bare address of the room; missing for the account's own archive.
    public static let room = EventKey("room", "the bare address of the room; missing for the account's own archive")
    /// How many messages are new.
    public static let messages = EventKey("messages", "how many messages are new")
}

/// The account's archive was read to its end, or reading it ended for another reason.
public struct CaughtUp: EventContent {
    public static let name = "caught_up"
    public static let meaning = "The account's archive was read to its end, or reading it ended for another reason."
    public static let keys: [EventKey] = [.reason]
    /// Why the archive was not read to its end; nil if it was.
    public let problem: String?
    public var fields: [EventField] { .present(.optional(.reason, problem)) }
    public var line: PrintedText? { problem.map { "the archive was not read: \($0)" } ?? "caught up" }
    public var isDetail: Bool { problem == nil }

    package init(problem: String?) { self.problem = problem }
}

/// A room's archive was read to its end, or reading it ended for another reason.
public struct RoomRead: EventContent {
    public static let name = "room_read"
    public static let meaning = "A room's archive was read to its end, or reading it ended for another reason."
    public static let keys: [EventKey] = [.room, .reason]
    /// The room's bare address.
    public let room: JID
    /// Why the archive was not read to its end; nil if it was.
    public let problem: String?
    public var fields: [EventField] {
        .present(EventField(.room, .text(room.description)), .optional(.reason, problem))
    }
    public var line: PrintedText? {
        problem.map { "the archive of \(room) was not read: \($0)" } ?? "caught up with \(room)"
    }
    public var isDetail: Bool { problem == nil }

    package init(room: JID, problem: String?) { (self.room, self.problem) = (room, problem) }
}

/// A backfill has ended, completely or not.
public struct HistoryFilled: EventContent {
    public static let name = "history_filled"
    public static let meaning = "A backfill of older history has ended, completely or not."
    public static let keys: [EventKey] = [.room, .conversation, .messages, .reason]
    /// The room; nil for the account's own archive.
    public let room: JID?
    /// The conversation whose older history was fetched; nil for all of the archive.
    public let conversation: JID?
    /// How many messages are new.
    public let messages: Int
    /// Why messages are missing; nil if the backfill was completed.
    public let problem: String?
    public var fields: [EventField] {
        .present(
            .optional(.room, room?.description), .optional(.conversation, conversation?.description),
            EventField(.messages, .integer(Int64(messages))),
            .optional(.reason, problem))
    }
    public var line: PrintedText? {
        let what: PrintedText =
            "\(messages) older messages fetched\((room ?? conversation).map { " from \($0)" } ?? "")"
        return problem.map { "\(what), then: \($0)" } ?? what
    }
    public var isDetail: Bool { problem == nil }
    public var changed: DirectoryChange.Part? { conversation.map { .init(.conversation, $0.description) } }

    package init(room: JID?, conversation: JID? = nil, messages: Int, problem: String?) {
        (self.room, self.conversation, self.messages, self.problem) = (room, conversation, messages, problem)
    }
}
