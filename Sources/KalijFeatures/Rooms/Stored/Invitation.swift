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
    /// The name that the room has given itself (``DescribeInvitation``); nil if it was not asked, or has none.
    public var title: String?

    /// A description for people.
    public var line: PrintedText {
        let who: PrintedText = inviter.map { "\($0) invites you" } ?? "you are invited"
        let why: PrintedText = reason.map { ": \($0)" } ?? ""
        let named: PrintedText = title.map { "\"\($0)\", " } ?? ""
        return "\(who) to \(named)\(room)\(why)"
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
            reason: row.optionalText("reason"), at: row.integer("at"), title: row.optionalText("title"))
        (password, isMediated) = (row.optionalText("password"), row.bool("mediated"))
    }

    /// The domain of the server that has sent the invitation: of a mediated one the room's, whatever inviter the room reports, else the
    /// inviter's.
    var domain: String { (isMediated ? invitation.room : invitation.inviter ?? invitation.room).domain }

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
            "SELECT room, inviter, reason, password, mediated, at, title FROM invitation WHERE account = ? ORDER BY at, room"
        ).all([.integer(account)], InvitationRow.init)
    }

    func invitation(to room: JID) throws -> InvitationRow? {
        try database.statement(
            "SELECT room, inviter, reason, password, mediated, at, title FROM invitation WHERE account = ? AND room = ?"
        ).first([.integer(account), .text(room.bare.description)], InvitationRow.init)
    }

    /// The number of all invitations, and the largest number of a domain.
    func counts() throws -> (all: Int64, most: Int64) {
        try database.statement(
            "SELECT coalesce(sum(count), 0) AS total, coalesce(max(count), 0) AS most FROM invitation_sender WHERE account = ?"
        ).first([.integer(account)]) { ($0.integer("total"), $0.integer("most")) } ?? (0, 0)
    }

    func count(of domain: String) throws -> Int64 {
        try database.statement("SELECT count FROM invitation_sender WHERE account = ? AND domain = ?")
            .first([.integer(account), .text(domain)]) { $0.integer() } ?? 0
    }

    /// The room of the newest invitation of a domain that has sent `count`.
    func newest(ofThoseWith count: Int64) throws -> JID? {
        try database.statement(
            """
            SELECT room FROM invitation WHERE account = ?1
                AND domain IN (SELECT domain FROM invitation_sender WHERE account = ?1 AND count = ?2)
            ORDER BY at DESC, room DESC LIMIT 1
            """
        ).first([.integer(account), .integer(count)]) { .received($0.text()) }
    }

    func store(_ row: InvitationRow) throws {
        let invitation = row.invitation
        _ = try remove(invitation.room)
        try database.run(
            """
            INSERT INTO invitation_sender(account, domain, count) VALUES (?, ?, 1)
            ON CONFLICT (account, domain) DO UPDATE SET count = count + 1
            """, [.integer(account), .text(row.domain)])
        try database.run(
            """
            INSERT INTO invitation(account, room, inviter, reason, password, mediated, at, title, domain)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                .integer(account), .text(invitation.room.description), .optional(invitation.inviter?.description),
                .optional(invitation.reason), .optional(row.password), .integer(row.isMediated ? 1 : 0),
                .integer(invitation.at), .optional(invitation.title), .text(row.domain),
            ])
    }

    /// The room has given itself this name.
    func set(title: String?, of room: JID) throws {
        try database.run(
            "UPDATE invitation SET title = ? WHERE account = ? AND room = ?",
            [.optional(title), .integer(account), .text(room.bare.description)])
    }

    /// - Returns: whether an invitation was removed.
    func remove(_ room: JID) throws -> Bool {
        let domain = try database.statement("DELETE FROM invitation WHERE account = ? AND room = ? RETURNING domain")
            .first([.integer(account), .text(room.bare.description)]) { $0.text() }
        guard let domain else { return false }
        let key: [Value] = [.integer(account), .text(domain)]
        try database.run("UPDATE invitation_sender SET count = count - 1 WHERE account = ? AND domain = ?", key)
        try database.run("DELETE FROM invitation_sender WHERE account = ? AND domain = ? AND count <= 0", key)
        return true
    }
}
