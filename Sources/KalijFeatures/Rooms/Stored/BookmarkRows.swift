import KalijAddress
import KalijStore
import KalijXML

/// The list as it was last read, with the changes of this device.
struct BookmarkRows {
    let database: Database
    let account: Int64

    struct Row {
        let room: JID
        /// The element as it was last read; nil if the room was not in the list.
        let xml: String?
        let autojoin: Bool
        let change: BookmarkMerge.Change
        /// When this device last wrote the room, in the steady time.
        let writtenAt: Int64?

        /// The parsed element.
        var element: Element? { xml.flatMap { try? Element.parse($0) } }
    }

    func all() throws -> [Row] {
        try database.statement(
            "SELECT room, xml, autojoin, change, written_at FROM bookmark WHERE account = ? ORDER BY room"
        ).all([.integer(account)], Self.row)
    }

    private static func row(_ row: KalijStore.Row) -> Row {
        Row(
            room: .received(row.text("room")), xml: row.optionalText("xml"), autojoin: row.bool("autojoin"),
            change: BookmarkMerge.Change(rawValue: row.integer("change")) ?? .none,
            writtenAt: row.optionalInteger("written_at"))
    }

    /// Records a change of this device.
    func record(_ change: BookmarkMerge.Change, of room: JID) throws {
        try database.run(
            """
            INSERT INTO bookmark(account, room, autojoin, change) VALUES (?1, ?2, 0, ?3)
            ON CONFLICT (account, room) DO UPDATE SET change = ?3
            """, [.integer(account), .text(room.description), .integer(change.rawValue)])
    }

    /// Records that the room is in the list as `bookmark`; changes of this device are kept.
    func seen(_ bookmark: Bookmark) throws {
        try database.run(
            """
            INSERT INTO bookmark(account, room, xml, autojoin, change) VALUES (?1, ?2, ?3, ?4, 0)
            ON CONFLICT (account, room) DO UPDATE SET xml = ?3, autojoin = ?4
            """,
            [
                .integer(account), .text(bookmark.room.description), .text(bookmark.stored.xml()),
                .integer(bookmark.autojoin ? 1 : 0),
            ])
    }

    /// Records that the room is not in the list; changes of this device are kept.
    func missing(_ room: JID) throws {
        try database.run(
            "UPDATE bookmark SET xml = NULL, autojoin = 0 WHERE account = ? AND room = ?",
            [.integer(account), .text(room.description)])
        try database.run(
            "DELETE FROM bookmark WHERE account = ? AND room = ? AND change = 0",
            [.integer(account), .text(room.description)])
    }

    func settled(_ room: JID) throws {
        try database.run(
            "UPDATE bookmark SET change = 0 WHERE account = ? AND room = ?",
            [.integer(account), .text(room.description)])
        try database.run(
            "DELETE FROM bookmark WHERE account = ? AND room = ? AND change = 0 AND xml IS NULL",
            [.integer(account), .text(room.description)])
    }

    func written(_ room: JID, at time: Int64) throws {
        try database.run(
            "UPDATE bookmark SET written_at = ? WHERE account = ? AND room = ?",
            [.integer(time), .integer(account), .text(room.description)])
    }
}
