import KalijAddress
import KalijCore
import KalijText

/// A member of a group has read messages.
public struct GroupRead: EventContent {
    public static let name = "group_read"
    public static let meaning = "A member of a group says to have read the messages up to one (XEP-0333)."
    public static let keys: [EventKey] = [.room, .member, .id]
    /// The bare address of the group.
    public let room: JID
    /// The bare address of the member.
    public let member: JID
    /// The row of the last message that the member has read (``Message/id``).
    public let message: Int64
    public var fields: [EventField] {
        [
            EventField(.room, .text(room.description)), EventField(.member, .text(member.description)),
            EventField(.id, .integer(message)),
        ]
    }
    public var changed: DirectoryChange.Part? { .init(.conversation, room.description) }
    public var line: PrintedText? { "\(member) has read \(room) up to message \(message)" }
    public var isDetail: Bool { true }

    package init(room: JID, member: JID, message: Int64) {
        (self.room, self.member, self.message) = (room, member, message)
    }
}
