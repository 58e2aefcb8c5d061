import KalijAddress
import KalijText

/// A room of an account: what is wanted, and where the account is (XEP-0045).
public struct Room: Sendable, Equatable {
    /// The bare address.
    public let jid: JID
    /// Whether the user wants to be in the room.
    public let isWanted: Bool
    /// Where the account is: `joined`, `left`, `waiting`, `refused`, `absent` or `gone`; on the way there `asking`,
    /// `joining`, `entering`; `doubtful` while the room is asked whether it still knows the account.
    public let state: String
    /// The nickname in the room, or the nickname that is wanted there.
    public let nick: String
    /// Why the account is not in the room, in words; nil if it is.
    public let reason: String?
    /// The room that a destroyed room has named, unchecked: for the user to decide.
    public let successor: String?
    /// The name, in words; nil if the room has none.
    public let name: String?
    /// What the room is about; nil if the room does not say.
    public let subject: String?
    /// Whether only members may enter, and everybody sees the addresses of all. Any other room is a channel.
    public let isGroup: Bool
    /// Whether the room has an archive (XEP-0313).
    public let hasArchive: Bool

    package init(_ row: RoomRow) {
        (jid, isWanted, state) = (row.jid, row.isWanted, row.stay.state.rawValue)
        nick = row.held ?? row.nick
        (reason, successor, name, subject) = (row.reason, row.successor, row.info.name, row.subject)
        (isGroup, hasArchive) = (row.info.isGroup, row.info.hasArchive)
    }

    /// The line for people.
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
