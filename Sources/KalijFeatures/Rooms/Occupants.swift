import KalijAddress
import KalijCore
import KalijStore
import KalijText

/// An occupant of a room.
public struct Occupant: Sendable, Equatable {
    /// The nickname, unique in the room.
    public let nick: String
    /// The bare address, where the room shows it.
    public let jid: JID?
    /// The stable id that the room gives (XEP-0421).
    public let occupantID: String?
    /// `owner`, `admin`, `member`, `none` (XEP-0045 section 5.2).
    public let affiliation: String
    /// `moderator`, `participant`, `visitor` (section 5.1).
    public let role: String

    init(nick: String, jid: JID?, occupantID: String?, affiliation: String, role: String) {
        (self.nick, self.jid, self.occupantID) = (nick, jid, occupantID)
        (self.affiliation, self.role) = (affiliation, role)
    }

    init(_ row: Row) {
        self.init(
            nick: row.text("nick"), jid: row.optionalText("jid").map(JID.received),
            occupantID: row.optionalText("occupant_id"), affiliation: row.text("affiliation"), role: row.text("role"))
    }

    /// A description for people.
    public var line: PrintedText {
        var line: PrintedText = "\(nick)"
        if let jid { line += ", \(jid)" }
        if affiliation != "none" { line += ", \(affiliation)" }
        return role == "participant" ? line : line + ", \(role)"
    }

    private static let validValues: Set = [
        "owner", "admin", "member", "none", "outcast", "moderator", "participant", "visitor",
    ]

    /// An affiliation or a role; `none` for anything else.
    static func validated(_ text: String?) -> String { text.flatMap { validValues.contains($0) ? $0 : nil } ?? "none" }
}

/// The stored occupants of a room, since the latest join.
package struct Occupants {
    let step: Step
    let room: RoomRow
    private var database: Database { step.database }
    private var id: Value { .integer(room.id) }

    /// The maximum number of stored occupants: a room that fabricates occupants must not fill the disk.
    private static let maxOccupants: Int64 = 5000
    /// The maximum length of a stored nickname in bytes, which is the maximum length of a part of an address.
    private static let maxNickLength = JID.longestPart

    /// The occupant called `nick`; nil if there is none.
    func occupant(_ nick: String) throws -> Occupant? {
        try database.statement(
            "SELECT nick, jid, occupant_id, affiliation, role FROM occupant WHERE room = ? AND nick = ? AND joined = ?"
        ).first([id, .text(nick), .integer(room.join)], Occupant.init)
    }

    /// The number that identifies the stay of the occupant called `nick`, never reused; nil if there is no such occupant.
    func stay(of nick: String) throws -> Int64? {
        try database.statement("SELECT stay FROM occupant WHERE room = ? AND nick = ? AND joined = ?")
            .first([id, .text(nick), .integer(room.join)]) { $0.integer() }
    }

    /// - Parameters:
    ///   - stay: the stay of an occupant who had another nickname before.
    ///   - isOwn: whether this is the account's own occupant, for whom there is always a place.
    /// - Returns: whether the occupant is new in this join.
    func store(_ occupant: Occupant, stay: Int64? = nil, isOwn: Bool = false) throws -> Bool {
        guard occupant.nick.utf8.count <= Self.maxNickLength else { return false }
        let known = try self.occupant(occupant.nick)
        guard known != occupant || stay != nil, try known != nil || isOwn || !isFull else { return false }
        let number = try stay ?? self.stay(of: occupant.nick) ?? step.nextPosition()
        try database.run(
            """
            INSERT OR REPLACE INTO occupant(room, nick, joined, jid, occupant_id, affiliation, role, stay)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                id, .text(occupant.nick), .integer(room.join), .optional(occupant.jid?.description),
                .optional(occupant.occupantID), .text(occupant.affiliation), .text(occupant.role), .integer(number),
            ])
        return known == nil
    }

    private var isFull: Bool {
        get throws {
            try database.statement("SELECT 1 FROM occupant WHERE room = ? LIMIT 1 OFFSET ?")
                .first([id, .integer(Self.maxOccupants - 1)]) { _ in true } ?? false
        }
    }

    /// - Returns: whether there was such an occupant.
    func remove(_ nick: String) throws -> Bool {
        try database.run("DELETE FROM occupant WHERE room = ? AND nick = ?", [id, .text(nick)])
        return database.changes > 0
    }

    /// Removes the occupants of earlier joins, after the room has sent the presence of all present occupants.
    func removeOlder() throws {
        try database.run("DELETE FROM occupant WHERE room = ? AND joined < ?", [id, .integer(room.join)])
    }

    func removeAll() throws { try database.run("DELETE FROM occupant WHERE room = ?", [id]) }

    /// The account's own occupant; nil if there is none. Can be called outside of a step.
    static func own(in room: RoomRow, in database: Database) throws -> Occupant? {
        guard let held = room.held else { return nil }
        return try database.statement(
            "SELECT nick, jid, occupant_id, affiliation, role FROM occupant WHERE room = ? AND nick = ? AND joined = ?"
        ).first([.integer(room.id), .text(held), .integer(room.join)], Occupant.init)
    }

    /// All occupants, in the order of their nicknames. Can be called outside of a step.
    package static func all(of room: RoomRow, in database: Database) throws -> [Occupant] {
        try database.statement(
            """
            SELECT nick, jid, occupant_id, affiliation, role FROM occupant WHERE room = ? AND joined = ? ORDER BY nick
            """
        ).all([.integer(room.id), .integer(room.join)], Occupant.init)
    }
}
