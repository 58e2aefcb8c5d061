import KalijAddress
import KalijCore
import KalijStream
import KalijText
import KalijXML

/// An intent that changes a room. It has the room's address, and fails if the account is not in the room.
protocol RoomIntent: Intent {
    var room: String { get }
    /// The texts that are sent to the room.
    var texts: [String?] { get }
}

extension RoomIntent {
    var texts: [String?] { [] }

    public func check() throws {
        let room = try JID(room)
        guard room.isBare, room.local != nil else { throw IntentFailure("\(room) is not the address of a room") }
        for text in texts.compactMap({ $0 }) {
            guard text.utf8.count <= 4096 else { throw IntentFailure("a text may have 4,096 bytes") }
            guard text.unicodeScalars.allSatisfy(\.isXML) else {
                throw IntentFailure("a text has characters that XML does not allow")
            }
        }
    }

    /// The room, with the account in it.
    func entered(in step: Step) throws -> RoomRow {
        try check()
        let jid = try JID(room)
        guard let row = try RoomCoordinator(step: step).rows.room(jid) else {
            throw IntentFailure("\(jid) is no room of this account: `kalij room join`")
        }
        guard row.stay.state.isIn else { throw IntentFailure(Reason(.notInRoom, jid.description)) }
        return row
    }

    func change(_ id: String, _ change: RoomAdminRequest.Change, in step: Step) throws -> IntentOutcome {
        try RoomAdminRequest(intent: id, try entered(in: step).jid, change).send(in: step)
        return .pending
    }
}

/// Changes the affiliation of an address (XEP-0045 section 9), or the role of an occupant, identified by the nickname (section 8).
public struct SetRole: RoomIntent {
    public static let name = "role"
    /// The bare address of the room.
    public let room: String
    /// A bare address for an affiliation, a nickname for a role.
    public let who: String
    /// An affiliation of an address: `owner`, `admin`, `member`, `none`, `outcast`. Or a role of an occupant: `moderator`,
    /// `participant`, `visitor`, `kick`.
    public let role: String
    /// The reason, as a text.
    public let reason: String?

    /// The affiliations of an address.
    public static let affiliations = ["owner", "admin", "member", "none", "outcast"]
    /// The roles of an occupant.
    public static let roles = ["moderator", "participant", "visitor", "kick"]

    /// - Parameters:
    ///   - room: the address of the room.
    ///   - who: a bare address for an affiliation, a nickname for a role.
    ///   - role: one of ``affiliations`` or ``roles``.
    ///   - reason: the reason, as a text.
    public init(_ room: JID, _ who: String, _ role: String, reason: String? = nil) {
        (self.room, self.who, self.role, self.reason) = (room.bare.description, who, role, reason)
    }

    var texts: [String?] { [who, reason] }

    public func perform(_ id: String, in step: Step) throws -> IntentOutcome {
        if Self.affiliations.contains(role) {
            let jid = try JID(who)
            guard jid.isBare else { throw IntentFailure("\(who): an address without a resource is needed") }
            return try change(id, .affiliations([jid.description], role, reason: reason), in: step)
        }
        guard Self.roles.contains(role) else { throw IntentFailure("there is no role \"\(role)\"") }
        return try change(id, .role(who, role == "kick" ? "none" : role, reason: reason), in: step)
    }
}

/// Changes the configuration of a room (XEP-0045 section 10.2); the name, for example.
public struct ConfigureRoom: RoomIntent {
    public static let name = "configure"
    /// The bare address of the room.
    public let room: String
    /// Values by the names of the fields; `name` is the room's name.
    public let settings: [String: String]

    private static let prefix = "muc#roomconfig_"
    /// The field of the room's name.
    static let nameField = prefix + "roomname"

    /// - Parameters:
    ///   - room: the address of the room.
    ///   - settings: values by the names of the form's fields, with or without `muc#roomconfig_`. The room's form determines the
    ///     fields; an unknown field fails the intent, and the reason lists the fields.
    public init(_ room: JID, _ settings: [String: String]) {
        (self.room, self.settings) = (room.bare.description, settings)
    }

    /// Renames a room.
    public init(_ room: JID, title: String) { self.init(room, ["roomname": title]) }

    var texts: [String?] { Array(settings.keys) + Array(settings.values) }

    public func perform(_ id: String, in step: Step) throws -> IntentOutcome {
        guard !settings.isEmpty else { throw IntentFailure("no setting is given") }
        let fields = Dictionary(
            settings.map { ($0.key.contains("#") || $0.key == "mam" ? $0.key : Self.prefix + $0.key, $0.value) }
        ) { $1 }
        try RoomFormRequest(intent: id, try entered(in: step).jid, fields: fields).send(in: step)
        return .pending
    }
}

/// Sets the subject of a room (XEP-0045 section 8.1).
public struct SetSubject: RoomIntent {
    public static let name = "subject"
    /// The bare address of the room.
    public let room: String
    /// The subject; empty for none.
    public let subject: String

    /// - Parameters:
    ///   - room: the address of the room.
    ///   - subject: the subject; empty for none.
    public init(_ room: JID, _ subject: String) { (self.room, self.subject) = (room.bare.description, subject) }

    var texts: [String?] { [subject] }

    public func perform(_ id: String, in step: Step) throws -> IntentOutcome {
        try SetSubjectRequest(intent: id, try entered(in: step).jid, subject).send(in: step)
        return .pending
    }
}

/// Sets the picture of a room (XEP-0486).
public struct SetRoomPicture: RoomIntent {
    public static let name = "room_avatar"
    /// The bare address of the room.
    public let room: String
    /// The picture in base64; empty to remove it.
    public let avatar: String

    /// - Parameters:
    ///   - room: the address of the room.
    ///   - avatar: the bytes of a picture: PNG, JPEG, GIF or WebP, at most 256 KiB; empty to remove it.
    public init(_ room: JID, avatar: [UInt8]) {
        (self.room, self.avatar) = (room.bare.description, Avatar.base64(avatar))
    }

    public func perform(_ id: String, in step: Step) throws -> IntentOutcome {
        let picture = try avatar.isEmpty ? nil : Avatar(base64: avatar)
        return try change(id, .picture(picture?.base64, type: picture?.type), in: step)
    }
}

/// Destroys a room (XEP-0045 section 10.9). The stored messages are kept.
public struct DestroyRoom: RoomIntent {
    public static let name = "destroy"
    /// The bare address of the room.
    public let room: String
    /// The address of an alternative room, announced to all occupants.
    public let successor: String?
    /// The reason, as a text.
    public let reason: String?

    /// - Parameters:
    ///   - room: the address of the room.
    ///   - successor: the address of an alternative room, announced to all occupants.
    ///   - reason: the reason, as a text.
    public init(_ room: JID, successor: JID? = nil, reason: String? = nil) {
        (self.room, self.successor) = (room.bare.description, successor?.bare.description)
        self.reason = reason
    }

    var texts: [String?] { [reason] }

    public func perform(_ id: String, in step: Step) throws -> IntentOutcome {
        try change(id, .destruction(successor: successor, reason: reason), in: step)
    }
}

/// Retracts a message in a room for all occupants, as a moderator (XEP-0425).
public struct Moderate: RoomIntent {
    public static let name = "moderate"
    /// The bare address of the room.
    public let room: String
    /// The message.
    public let message: MessageReference
    /// The reason, as a text.
    public let reason: String?

    /// - Parameters:
    ///   - room: the address of the room.
    ///   - message: the message.
    ///   - reason: the reason, as a text.
    public init(_ room: JID, _ message: MessageReference, reason: String? = nil) {
        (self.room, self.message, self.reason) = (room.bare.description, message, reason)
    }

    var texts: [String?] { [reason] }

    public func perform(_ id: String, in step: Step) throws -> IntentOutcome {
        let row = try entered(in: step)
        let found = try message.found(in: step)
        guard found.conversation.exact == room.exact else { throw IntentFailure("the message is not in \(room)") }
        guard row.info.moderates || row.info.moderatesAsBefore else { throw IntentFailure("\(room) has no moderation") }
        guard let stanza = found.stanzaID else { throw IntentFailure("the room's archive has given the message no id") }
        return try change(id, .moderation(stanza, reason: reason, isOld: !row.info.moderates), in: step)
    }
}
