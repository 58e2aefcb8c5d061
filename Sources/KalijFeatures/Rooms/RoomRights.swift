/// What the account may do in a room, by its affiliation, its role and what the room supports (XEP-0045 section 5).
public struct RoomRights: Sendable, Equatable {
    /// `owner`, `admin`, `member`, `none`.
    public let affiliation: String
    /// `moderator`, `participant`, `visitor`, `none`.
    public let role: String
    /// Whether the room can have a picture (XEP-0486).
    public let hasPicture: Bool
    private let isMembersOnly: Bool
    private let moderates: Bool

    package init(of own: Occupant, in info: RoomInfo) {
        (affiliation, role, hasPicture) = (own.affiliation, own.role, info.hasPicture)
        (isMembersOnly, moderates) = (info.isMembersOnly, info.moderates || info.moderatesAsBefore)
    }

    private var isOwner: Bool { affiliation == "owner" }
    private var administrates: Bool { isOwner || affiliation == "admin" }

    /// Whether the account may change the configuration: the name, for example.
    public var configures: Bool { isOwner }
    /// Whether the account may destroy the room.
    public var destroys: Bool { isOwner }
    /// Whether the account may set the picture.
    public var setsPicture: Bool { isOwner && hasPicture }
    /// Whether the account may set the subject. A room may permit it to other occupants, which no feature shows.
    public var setsSubject: Bool { role == "moderator" }
    /// Whether the account may invite: into a members-only room, whoever may make members.
    public var invites: Bool { isMembersOnly ? administrates : role != "visitor" && role != "none" }
    /// Whether the account may retract messages of others for everybody (XEP-0425).
    public var moderatesMessages: Bool { moderates && role == "moderator" }
    /// Whether the account may make others admins and owners.
    public var appoints: Bool { isOwner }

    /// Whether the account may remove or ban somebody with `affiliation` (XEP-0045 sections 9 and 10).
    public func removes(_ affiliation: String) -> Bool {
        switch affiliation {
        case "owner": false
        case "admin": isOwner
        default: administrates
        }
    }
}
