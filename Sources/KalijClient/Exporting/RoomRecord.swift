import KalijAddress
import KalijCore
import KalijFeatures
import KalijXML

/// A room in JSON.
public struct RoomRecord: Encodable, Sendable {
    private let event = "room"
    private let account: String
    private let at: String
    private let room: String
    private let state: String
    private let wanted: Bool
    private let nick: String
    private let reason: String?
    private let successor: String?
    private let title: String?
    private let subject: String?
    private let group: Bool
    private let archive: Bool

    private enum CodingKeys: String, CodingKey {
        case event, account, at, room, wanted, nick, reason, successor, title, subject, group, archive
        case state = "room_state"
    }

    /// - Parameters:
    ///   - room: the room.
    ///   - account: the account that has the room.
    ///   - time: when the room was read, in milliseconds since 1970.
    public init(_ room: Room, of account: Account, at time: Int64) {
        self.account = account.jid.description
        at = DateTime.stamp(time)
        (self.room, state, wanted, nick) = (room.jid.description, room.state, room.isWanted, room.nick)
        (reason, successor, title, subject) = (room.reason?.description, room.successor, room.name, room.subject)
        (group, archive) = (room.isGroup, room.hasArchive)
    }
}
