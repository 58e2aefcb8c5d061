import KalijAddress
import KalijCore
import KalijText

/// A room of an account: what the user has chosen, and the state of the account there (XEP-0045).
public struct Room: Sendable, Equatable {
    /// The bare address.
    public let jid: JID
    /// Whether the user intends to be in the room.
    public let isWanted: Bool
    /// The state of the account: `joined`, `left`, `waiting`, `refused`, `absent` or `gone`; while entering `asking`, `joining`,
    /// `entering`; `doubtful` while a self-ping determines whether the account is still an occupant.
    public let state: String
    /// The nickname in the room, or the nickname to be used there.
    public let nick: String
    /// The reason why the account is not in the room; nil if it is.
    public let reason: Reason?
    /// The alternative address that a destroyed room has announced, not validated: for the user to decide.
    public let successor: String?
    /// The name; nil if the room has none.
    public let name: String?
    /// The subject of the room; nil if it has none.
    public let subject: String?
    /// Whether only members may enter, and everybody sees everybody's address. Any other room is a channel.
    public let isGroup: Bool
    /// Whether the room has an archive (XEP-0313).
    public let hasArchive: Bool

    package init(_ row: RoomRow) {
        (jid, isWanted, state) = (row.jid, row.isWanted, row.stay.state.rawValue)
        nick = row.held ?? row.nick
        (reason, successor, name, subject) = (row.reason, row.successor, row.info.name, row.subject)
        (isGroup, hasArchive) = (row.info.isGroup, row.info.hasArchive)
    }

    /// A description for people.
    public var line: PrintedText {
        var line: PrintedText = "\(jid): \(state)"
        if state == "joined" { line += " as \(nick)" }
        if let name { line += ", \"\(name)\"" }
        if let subject { line += ", about \"\(subject)\"" }
        if let reason { line += " (\(reason))" }
        if let successor { line += "; another room: \(successor)" }
        return line
    }
}
