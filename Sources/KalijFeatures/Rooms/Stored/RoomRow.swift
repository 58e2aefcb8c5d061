import KalijAddress
import KalijCore
import KalijStore
import KalijXML

/// A room of the account: what the user has chosen, and the state of the account there.
package struct RoomRow {
    package let id: Int64
    /// A bare address.
    package let jid: JID
    /// Whether the user intends to be in the room.
    package var isWanted: Bool
    /// The nickname that the user has chosen.
    package var nick: String
    package var password: String?
    /// Whether the user agrees that everybody in the room sees the account's address.
    package var mayShowAddress: Bool
    package var stay: RoomMembership
    /// The nickname in the room; in `joining` the requested nickname.
    package var held: String?
    /// The former nickname, while the room processes the change to another.
    package var former: String?
    /// Incremented by each join: occupants of an earlier join are obsolete.
    package var join: Int64
    /// When the last stanza of the room was received, in the steady time; to the minute.
    package var heardAt: Int64
    /// The reason why the account is not in the room; nil if it is, or has left.
    package var reason: Reason?
    /// The alternative address that a destroyed room has announced, not validated.
    package var successor: String?
    package var info: RoomInfo
    package var subject: String?
    /// The id of the account's own occupant (XEP-0421).
    package var occupantID: String?
    /// The intent that ends when the account has entered, or cannot enter.
    package var intent: String?
    /// When the account first entered the room, in milliseconds since 1970, by the server's time; nil if it never has.
    package var since: Int64?
    /// Whether the room has sent a message known before since the latest join: then none in between was missed (without an archive).
    package var overlaps: Bool
    /// Whether the lists of members have come since the latest join.
    package let hasLists: Bool

    /// Whether the account is in the room under a nickname, and the creation of the room is complete.
    var canSend: Bool { stay.state == .joined && !stay.mayCreate && held != nil }

    /// Whether an element of `message` mentions the account (XEP-0372).
    package func mentions(_ account: JID, by message: Element) -> Bool {
        MentionReferences.contain(account, as: held ?? nick, in: jid, message)
    }

    /// Whether the message in `row` mentions the account, by an element or by the nickname in its text.
    package func isMentioned(in row: Int64, _ text: String, _ database: Database) throws -> Bool {
        let isReferred = try database.statement("SELECT 1 FROM room_mention WHERE message = ?")
            .first([.integer(row)]) { _ in true }
        return isReferred ?? false || Mention.names(held ?? nick, in: text)
    }

    fileprivate init(_ row: Row) {
        id = row.integer("id")
        jid = .received(row.text("jid"))
        isWanted = row.bool("wanted")
        nick = row.text("nick")
        password = row.optionalText("password")
        mayShowAddress = row.bool("shows_address")
        stay = RoomMembership(
            RoomMembership.State(rawValue: row.text("state")) ?? .left, failures: Int(row.integer("failures")),
            renamings: Int(row.integer("renamings")), mayCreate: row.bool("creating"))
        held = row.optionalText("held")
        former = row.optionalText("former")
        join = row.integer("joins")
        heardAt = row.integer("heard_at")
        reason = row.optionalText("reason").map(Reason.init(stored:))
        successor = row.optionalText("successor")
        info = RoomInfo()
        info.name = row.optionalText("name")
        let flags = row.integer("info")
        for (index, path) in RoomRow.flags.enumerated() { info[keyPath: path] = flags & (1 << index) != 0 }
        subject = row.optionalText("subject")
        occupantID = row.optionalText("occupant_id")
        intent = row.optionalText("intent")
        since = row.optionalInteger("since")
        overlaps = row.bool("overlaps")
        hasLists = row.integer("listed") == row.integer("joins")
    }

    /// The bits of the column `info`; never changed after a release.
    private static var flags: [WritableKeyPath<RoomInfo, Bool>] {
        [
            \.isMembersOnly, \.isNonAnonymous, \.isHidden, \.isPersistent, \.hasArchive, \.hasOccupantIDs, \.moderates,
            \.moderatesAsBefore, \.keepsIDs, \.hasPicture,
        ]
    }

    fileprivate var infoFlags: Int64 {
        Self.flags.enumerated().reduce(0) { $0 | (info[keyPath: $1.element] ? 1 << Int64($1.offset) : 0) }
    }
}

extension SparseTable {
    static let room = SparseTable(anyRow: "SELECT 1 FROM room LIMIT 1")
}

/// The stored rooms of an account. Can be read outside of a step.
package struct RoomRows {
    package let database: Database
    package let account: Int64

    package init(database: Database, account: Int64) { (self.database, self.account) = (database, account) }

    /// All rooms, in the order of their addresses.
    package func all() throws -> [RoomRow] {
        try database.statement(
            """
            SELECT id, jid, wanted, nick, password, shows_address, state, failures, renamings, held, former, joins, heard_at, reason,
                successor, name, info, subject, occupant_id, intent, since,
                overlaps, creating, listed
            FROM room WHERE account = ? ORDER BY jid
            """
        ).all([.integer(account)], RoomRow.init)
    }

    /// The room with the bare address `jid`; nil if there is none.
    package func room(_ jid: JID) throws -> RoomRow? {
        if try database.isKnownEmpty(.room) { return nil }
        return try database.statement(
            """
            SELECT id, jid, wanted, nick, password, shows_address, state, failures, renamings, held, former, joins, heard_at, reason,
                successor, name, info, subject, occupant_id, intent, since,
                overlaps, creating, listed
            FROM room WHERE account = ? AND jid = ?
            """
        ).first([.integer(account), .text(jid.bare.description)], RoomRow.init)
    }

    /// The room in row `id`.
    func room(_ id: Int64) throws -> RoomRow? {
        try database.statement(
            """
            SELECT id, jid, wanted, nick, password, shows_address, state, failures, renamings, held, former, joins, heard_at, reason,
                successor, name, info, subject, occupant_id, intent, since,
                overlaps, creating, listed
            FROM room WHERE id = ? AND account = ?
            """
        ).first([.integer(id), .integer(account)], RoomRow.init)
    }

    /// The room in row `id`; nil if the account has joined again since `join`.
    func room(_ id: Int64, join: Int64) throws -> RoomRow? { try room(id).flatMap { $0.join == join ? $0 : nil } }

    /// Whether `jid` is the address of a room.
    package func isRoom(_ jid: JID) throws -> Bool {
        if try database.isKnownEmpty(.room) { return false }
        return try database.statement("SELECT 1 FROM room WHERE account = ? AND jid = ?")
            .first([.integer(account), .text(jid.bare.description)]) { _ in true } ?? false
    }

    /// Whether `jid` is an occupant of a room with whom the account has a private conversation: in a stored room, or in any room that
    /// another client has joined (`RoomMessageClassifier`).
    func isOccupant(_ jid: JID) throws -> Bool {
        guard !jid.isBare else { return false }
        if try isRoom(jid) { return true }
        return try database.statement(
            "SELECT 1 FROM message WHERE account = ? AND conversation = ? AND shown = 1 LIMIT 1"
        )
        .first([.integer(account), .text(jid.description)]) { _ in true } ?? false
    }

    /// Whether the account is entering a room.
    func isEntering() throws -> Bool {
        try database.statement(
            "SELECT 1 FROM room WHERE account = ? AND state IN ('asking', 'joining', 'entering') LIMIT 1"
        ).first([.integer(account)]) { _ in true } ?? false
    }

    /// The name of the conversation with `jid`: the bare address; for a private conversation with an occupant of a room (XEP-0045
    /// section 7.5) the full address.
    package func conversation(with jid: JID) throws -> String {
        try isOccupant(jid) ? jid.description : jid.bare.description
    }

    /// The room `jid`, created if there is none.
    func make(_ jid: JID, nick: String) throws -> RoomRow? {
        try database.run(
            "INSERT OR IGNORE INTO room(account, jid, nick) VALUES (?, ?, ?)",
            [.integer(account), .text(jid.bare.description), .text(nick)], into: .room)
        return try room(jid)
    }

    /// Records that the intent `creation` has created `room`.
    func record(creation: String, of room: RoomRow) throws {
        try database.run("UPDATE room SET creation = ? WHERE id = ?", [.text(creation), .integer(room.id)])
    }

    /// The room that the intent `creation` has created; nil if there is none.
    func room(createdBy creation: String) throws -> JID? {
        try database.statement("SELECT jid FROM room WHERE account = ? AND creation = ?")
            .first([.integer(account), .text(creation)]) { .received($0.text("jid")) }
    }

    func save(_ room: RoomRow) throws {
        try database.run(
            """
            UPDATE room SET wanted = ?, nick = ?, password = ?, shows_address = ?, state = ?, failures = ?, renamings = ?, held = ?,
                former = ?, joins = ?, heard_at = ?, reason = ?, successor = ?, name = ?, info = ?, subject = ?, occupant_id = ?, intent = ?,
                since = ?, overlaps = ?, creating = ?
            WHERE id = ?
            """,
            [
                .integer(room.isWanted ? 1 : 0), .text(room.nick), .optional(room.password),
                .integer(room.mayShowAddress ? 1 : 0), .state(room.stay.state), .integer(Int64(room.stay.failures)),
                .integer(Int64(room.stay.renamings)), .optional(room.held), .optional(room.former), .integer(room.join),
                .integer(room.heardAt),
                .optional(room.reason?.stored), .optional(room.successor), .optional(room.info.name),
                .integer(room.infoFlags),
                .optional(room.subject), .optional(room.occupantID), .optional(room.intent),
                .optional(room.since), .integer(room.overlaps ? 1 : 0),
                .integer(room.stay.mayCreate ? 1 : 0), .integer(room.id),
            ])
    }
}
