import KalijAddress
import KalijClient

/// A member of a group, or an occupant of a channel.
public struct MemberRow: Sendable, Equatable {
    /// The bare address; nil in a room that does not show it.
    public let jid: String?
    /// The nickname of a present member.
    public let nick: String?
    /// The user's name for the contact, else the nickname, else the address; of the user, the name that others are shown, or the address.
    public let name: String
    /// `owner`, `admin`, `member` or `none`.
    public let affiliation: String
    /// `moderator`, `participant`, `visitor` or `none`.
    public let role: String
    public let isOwn: Bool
    /// Whether the member is in the room; nil while that is unknown: outside of the room, or without a connection.
    public let isPresent: Bool?
    /// The path of the picture; nil without one.
    public var picture: String?
    /// The address at which a picture is offered that was not fetched yet.
    public var offersPicture: String?
    public let actions: [MemberAction]

    /// The displayed name: only the user's own row begins with "You".
    public var title: String { !isOwn ? name : name == subtitle ? Words.you : Words.you(name) }
    /// The address below the name: nicknames can imitate others.
    public var subtitle: String { jid.map(\.shownName) ?? "" }
    /// Affiliation and presence in words.
    public var state: String {
        [Words.affiliation(affiliation, role: role), isPresent.map { $0 ? Words.present : Words.absent }]
            .compactMap { $0 }.joined(separator: ", ")
    }
    /// The accessible name.
    public var spoken: String {
        [title, subtitle == title ? "" : subtitle, state].filter { !$0.isEmpty }.joined(separator: ", ")
    }

    /// Identifies the row.
    public var id: String { jid ?? "/" + (nick ?? "") }
}

/// An action on a member.
public enum MemberAction: Sendable, Equatable {
    /// Opens the conversation with the member.
    case write
    case makeOwner
    case makeAdmin
    /// Revokes the rights of an admin.
    case makeMember
    case remove
    case ban

    public var words: String {
        switch self {
        case .write: Words.writeMessage
        case .makeOwner: Words.makeOwner
        case .makeAdmin: Words.makeAdmin
        case .makeMember: Words.makeMember
        case .remove: Words.removeMember
        case .ban: Words.banMember
        }
    }

    /// The words without the sign of a question that follows.
    public var plain: String { words.withoutEllipsis }

    /// The affiliation that the action gives; nil for ``write``.
    public var affiliation: String? {
        switch self {
        case .write: nil
        case .makeOwner: "owner"
        case .makeAdmin: "admin"
        case .makeMember: "member"
        case .remove: "none"
        case .ban: "outcast"
        }
    }

    /// Whether the action has to be confirmed.
    public var isDestructive: Bool { self == .remove || self == .ban || self == .makeOwner }
}

extension MemberRow {
    /// The actions that the rights permit on another person with an address.
    static func actions(on affiliation: String, isGroup: Bool, _ rights: RoomRights?) -> [MemberAction] {
        var actions: [MemberAction] = [.write]
        guard let rights else { return actions }
        if rights.appoints {
            if affiliation == "member" || affiliation == "none" { actions.append(.makeAdmin) }
            if affiliation == "admin" { actions.append(.makeMember) }
            if affiliation != "owner" { actions.append(.makeOwner) }
        }
        if rights.removes(affiliation) {
            if isGroup { actions.append(.remove) }
            actions.append(.ban)
        }
        return actions
    }
}
