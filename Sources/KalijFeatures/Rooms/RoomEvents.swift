import KalijAddress
import KalijCore
import KalijText

/// The state of the account in a room has changed.
public struct RoomChanged: EventContent {
    public static let name = "room"
    public static let meaning = "The account has entered a room, is on its way there, or is not in the room any more."
    public static let keys: [EventKey] = [.room, .roomState, .nick, .reason, .reasonCode, .successor]
    /// The room's bare address.
    public let room: JID
    /// `joined`, `left`, `refused`, `absent`, `gone`, `waiting`; while entering `asking`, `joining`, `entering`.
    public let state: String
    /// The nickname in the room; nil if the account is not in the room.
    public let nick: String?
    /// The reason why the account is not in the room; nil if it is.
    public let reason: Reason?
    /// The alternative address that a destroyed room has announced, not validated: for the user to decide.
    public let successor: String?
    public var fields: [EventField] {
        .present(
            EventField(.room, .text(room.description)), EventField(.roomState, .text(state)), .optional(.nick, nick),
            .optional(.reason, reason?.description), .optional(.reasonCode, reason?.name),
            .optional(.successor, successor))
    }
    public var changed: DirectoryChange.Part? { .init(.room, room.description) }
    public var line: PrintedText? {
        let other: PrintedText = successor.map { "; another room: \($0)" } ?? ""
        let why: PrintedText = reason.map { ": \($0)" } ?? ""
        return switch state {
        case "joined": "in \(room) as \(nick ?? "")"
        case "left": "left \(room)"
        default: "\(room): \(state)\(why)\(other)"
        }
    }
    public var isDetail: Bool { ["asking", "joining", "entering"].contains(state) }

    init(_ row: RoomRow) {
        (room, state) = (row.jid, row.stay.state.rawValue)
        nick = row.stay.state.isIn ? row.held : nil
        (reason, successor) = (row.reason, row.successor)
    }
}

/// The description of a room has changed.
public struct RoomInfoChanged: EventContent {
    public static let name = "room_info"
    public static let meaning = "A room says something else of itself than before."
    public static let keys: [EventKey] = [.room, .title, .subject, .group, .archive]
    /// The room's bare address.
    public let room: JID
    /// The name; nil if the room has none.
    public let title: String?
    /// The subject; nil if there is none.
    public let subject: String?
    /// Whether only members may enter, and everybody sees everybody's address.
    public let isGroup: Bool
    /// Whether the room has an archive (XEP-0313).
    public let hasArchive: Bool
    public var fields: [EventField] {
        .present(
            EventField(.room, .text(room.description)), .optional(.title, title), .optional(.subject, subject),
            EventField(.group, .flag(isGroup)), EventField(.archive, .flag(hasArchive)))
    }
    public var changed: DirectoryChange.Part? { .init(.room, room.description) }
    public var line: PrintedText? {
        let words: PrintedText = subject.map { ", about \"\($0)\"" } ?? ""
        return "\(room) is \(isGroup ? "the group" : "the channel") \"\(title ?? "")\"\(words)"
    }
    public var isDetail: Bool { true }

    init(_ row: RoomRow) {
        (room, title, subject) = (row.jid, row.info.name, row.subject)
        (isGroup, hasArchive) = (row.info.isGroup, row.info.hasArchive)
    }
}

/// An occupant has entered or left a room.
public struct OccupantChanged: EventContent {
    public static let name = "occupant"
    public static let meaning = "Somebody has entered or left a room that the account is in."
    public static let keys: [EventKey] = [.room, .nick, .present, .occupant, .affiliation, .role]
    /// The room's bare address.
    public let room: JID
    /// The occupant who has entered or left.
    public let occupant: Occupant
    /// Whether the occupant is now present.
    public let isHere: Bool
    public var fields: [EventField] {
        .present(
            EventField(.room, .text(room.description)), EventField(.nick, .text(occupant.nick)),
            EventField(.present, .flag(isHere)), .optional(.occupant, occupant.jid?.description),
            EventField(.affiliation, .text(occupant.affiliation)), EventField(.role, .text(occupant.role)))
    }
    public var changed: DirectoryChange.Part? { .init(.room, room.description) }
    public var line: PrintedText? { "\(occupant.nick) has \(isHere ? "entered" : "left") \(room)" }
    public var isDetail: Bool { true }

    init(_ row: RoomRow, _ occupant: Occupant, isHere: Bool) {
        (room, self.occupant, self.isHere) = (row.jid, occupant, isHere)
    }
}

/// The affiliation of a member of a group has changed.
public struct MemberChanged: EventContent {
    public static let name = "member"
    public static let meaning = "Somebody belongs to a group that the account is in, or does not any more."
    public static let keys: [EventKey] = [.room, .member, .affiliation]
    /// The room's bare address.
    public let room: JID
    /// The member; with the affiliation `none` if the person is no longer a member.
    public let member: RoomMember
    public var fields: [EventField] {
        [
            EventField(.room, .text(room.description)), EventField(.member, .text(member.jid.description)),
            EventField(.affiliation, .text(member.affiliation)),
        ]
    }
    public var changed: DirectoryChange.Part? { .init(.room, room.description) }
    public var line: PrintedText? { "\(member.jid) is \(member.affiliation) of \(room)" }
    public var isDetail: Bool { true }

    /// - Parameter room: the room's bare address.
    public init(room: JID, _ member: RoomMember) { (self.room, self.member) = (room, member) }
}

/// The account was invited to a room, or an invitation no longer requires a response.
public struct InvitationChanged: EventContent {
    public static let name = "invitation"
    public static let meaning =
        "Somebody invites the account to a room: `kalij room join` or `room decline` answers. Told once, and once more with `closed`."
    public static let keys: [EventKey] = [.room, .title, .inviter, .reason, .closed]
    /// The invitation.
    public let invitation: Invitation
    /// Whether it no longer requires a response.
    public let isClosed: Bool
    public var fields: [EventField] {
        .present(
            EventField(.room, .text(invitation.room.description)), .optional(.title, invitation.title),
            .optional(.inviter, invitation.inviter?.description), .optional(.reason, invitation.reason),
            isClosed ? EventField(.closed, .flag(true)) : nil)
    }
    public var changed: DirectoryChange.Part? { .init(.request, invitation.room.description) }
    public var line: PrintedText? { isClosed ? nil : invitation.line }

    /// - Parameter isClosed: whether it no longer requires a response.
    public init(_ invitation: Invitation, isClosed: Bool) { (self.invitation, self.isClosed) = (invitation, isClosed) }
}

/// The room of an invitation has said its name.
public struct InvitationDescribed: EventContent {
    public static let name = "invitation_room"
    public static let meaning = "The room of an invitation has said its name, after the intent `describe_invitation`."
    public static let keys: [EventKey] = [.room, .title]
    /// The bare address of the room.
    public let room: JID
    /// The name; nil for none.
    public let title: String?
    public var fields: [EventField] {
        .present(EventField(.room, .text(room.description)), .optional(.title, title))
    }
    public var changed: DirectoryChange.Part? { .init(.request, room.description) }
    public var line: PrintedText? { title.map { "the room \(room) is called \"\($0)\"" } }
    public var isDetail: Bool { true }
}

extension EventKey {
    /// The inviter.
    public static let inviter = EventKey("inviter", "the bare address of whoever invites")
    /// A member of a group.
    public static let member = EventKey("member", "the bare address of somebody who belongs to a group")
    /// The state of the account in the room.
    public static let roomState = EventKey(
        "room_state",
        "`joined`, `left`, `waiting`, `refused`, `absent` or `gone`; on the way there `asking`, `joining`, `entering`")
    /// The alternative address that a destroyed room has announced.
    public static let successor = EventKey("successor", "the room that a destroyed room has named; unchecked")
    /// The name of a room.
    public static let title = EventKey("title", "the name of the room")
    /// The subject of a room.
    public static let subject = EventKey("subject", "what the room is about")
    /// Whether the room is a group.
    public static let group = EventKey(
        "group", "true if only members may enter and everybody sees the addresses of all; else the room is a channel")
    /// Whether the room has an archive.
    public static let archive = EventKey("archive", "whether the room has an archive (XEP-0313)")
    /// Whether the occupant is present.
    public static let present = EventKey("present", "whether the occupant is there from now on")
    /// The bare address of an occupant.
    public static let occupant = EventKey("occupant", "the bare address of the occupant, where the room shows it")
    /// The affiliation of an occupant.
    public static let affiliation = EventKey(
        "affiliation", "`owner`, `admin`, `member` or `none` (XEP-0045 section 5.2)")
    /// The role of an occupant.
    public static let role = EventKey("role", "`moderator`, `participant`, `visitor` or `none` (section 5.1)")
}
