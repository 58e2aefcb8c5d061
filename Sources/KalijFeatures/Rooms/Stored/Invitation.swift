import KalijAddress
import KalijCore
import KalijStore
import KalijText

/// An invitation to a room that awaits the user's response (XEP-0249, XEP-0045 section 7.8).
public struct Invitation: Sendable, Equatable {
    /// The bare address of the room.
    public let room: JID
    /// The inviter: a bare address; of a mediated invitation the address that the room reports.
    public let inviter: JID?
    /// The inviter's text.
    public let reason: String?
    /// When the invitation was sent, in milliseconds since 1970.
    public let at: Int64

    /// A description for people.
    public var line: PrintedText {
        let who: PrintedText = inviter.map { "\($0) invites you" } ?? "you are invited"
        let why: PrintedText = reason.map { ": \($0)" } ?? ""
        return "\(who) to \(room)\(why)"
    }
}

/// An invitation, with the data that only the response requires.
package struct InvitationRow {
    package let invitation: Invitation
    let password: String?
    /// Whether the room has forwarded the invitation, and receives the response.
    let isMediated: Bool

    fileprivate init(_ row: Row) {
        invitation = Invitation(
            room: .received(row.text("room")), inviter: row.optionalText("inviter").map(JID.received),
            reason: row.optionalText("reason"), at: row.integer("at"))
        (password, isMediated) = (row.optionalText("password"), row.bool("mediated"))
    }

    /// The domain of the server that has sent the invitation: of a mediated one the room's, whatever inviter the room reports, else the
    /// inviter's.
    var domain: String { Self.domain(invitation.room, invitation.inviter, isMediated: isMediated) }

    fileprivate static func domain(_ room: JID, _ inviter: JID?, isMediated: Bool) -> String {
        (isMediated ? room : inviter ?? room).domain
    }

    init(_ invitation: Invitation, password: String?, isMediated: Bool) {
        (self.invitation, self.password, self.isMediated) = (invitation, password, isMediated)
    }
}

/// The stored invitations, one for each room. Can be read outside of a step.
package struct InvitationRows {
    package let database: Database
    package let account: Int64

    package init(database: Database, account: Int64) { (self.database, self.account) = (database, account) }

    /// All invitations, oldest first.
    package func all() throws -> [InvitationRow] {
        try database.statement(
            "SELECT room, inviter, reason, password, mediated, at FROM invitation WHERE account = ? ORDER BY at, room"
        ).all([.integer(account)], InvitationRow.init)
    }

    /// The rooms, the oldest invitation first, with the domain of the server that has sent each.
    func senders() throws -> [(room: JID, domain: String)] {
        try database.statement(
            "SELECT room, inviter, mediated FROM invitation WHERE account = ? ORDER BY at, room"
        ).all([.integer(account)]) {
            let room = JID.received($0.text("room"))
            let inviter = $0.optionalText("inviter").map(JID.received)
            return (room, InvitationRow.domain(room, inviter, isMediated: $0.bool("mediated")))
        }
    }

    func invitation(to room: JID) throws -> InvitationRow? {
        try database.statement(
            "SELECT room, inviter, reason, password, mediated, at FROM invitation WHERE account = ? AND room = ?"
        ).first([.integer(account), .text(room.bare.description)], InvitationRow.init)
    }

    func count() throws -> Int64 {
        try database.statement("SELECT count(*) FROM invitation WHERE account = ?")
            .first([.integer(account)]) { $0.integer() } ?? 0
    }

    func store(_ row: InvitationRow) throws {
        let invitation = row.invitation
        try database.run(
            """
            INSERT OR REPLACE INTO invitation(account, room, inviter, reason, password, mediated, at)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            """,
            [
                .integer(account), .text(invitation.room.description), .optional(invitation.inviter?.description),
                .optional(invitation.reason), .optional(row.password), .integer(row.isMediated ? 1 : 0),
                .integer(invitation.at),
            ])
    }

    /// - Returns: whether an invitation was removed.
    func remove(_ room: JID) throws -> Bool {
        try database.run(
            "DELETE FROM invitation WHERE account = ? AND room = ?",
            [.integer(account), .text(room.bare.description)])
        return database.changes > 0
    }
}
