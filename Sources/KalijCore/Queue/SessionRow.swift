import KalijAddress
import KalijStore
import KalijStream
import KalijText

/// An account's stored XEP-0198 session: enough for the next process to resume the session.
package struct SessionRow {
    package var number: Int64
    package var resumeID: String?
    /// The full address that the server bound.
    package var jid: String?
    package var handled: HandledCount
    package var acknowledged: HandledCount
    /// Whether the server archives the account's messages (XEP-0313).
    package var archive: Bool
    package var unread: UnreadSession

    package static func load(_ account: Int64, from database: Database) throws -> SessionRow {
        let row = try database.statement(
            """
            SELECT number, resume_id, jid, handled, acknowledged, archive, unread, unread_since FROM session
            WHERE account = ?
            """
        ).first([.integer(account)]) { row in
            SessionRow(
                number: row.integer("number"), resumeID: row.optionalText("resume_id"), jid: row.optionalText("jid"),
                handled: HandledCount(UInt32(truncatingIfNeeded: row.integer("handled"))),
                acknowledged: HandledCount(UInt32(truncatingIfNeeded: row.integer("acknowledged"))),
                archive: row.bool("archive"),
                unread: UnreadSession(resumptions: row.integer("unread"), since: row.optionalInteger("unread_since")))
        }
        guard let row else { throw StoreError(.corrupt, "account \(account) has no session row") }
        return row
    }

    /// - Parameter isRead: whether the count shows that the server reads the session, as that of a resumption does not.
    package static func set(
        acknowledged: HandledCount, isRead: Bool, of account: Int64, in database: Database
    ) throws {
        try database.run(
            "UPDATE session SET acknowledged = ?1, unread = CASE WHEN ?2 THEN 0 ELSE unread END WHERE account = ?3",
            [.integer(Int64(acknowledged.value)), .integer(isRead ? 1 : 0), .integer(account)])
    }
}

/// The columns that the session's steps write.
extension SessionRow {
    /// A new session begins under the address `jid`; no stanza of it was handled.
    package static func begin(_ jid: JID, of account: Int64, in database: Database) throws {
        try database.run(
            """
            UPDATE session SET number = number + 1, jid = ?, handled = 0, acknowledged = 0, available = 0, unread = 0
            WHERE account = ?
            """, [.text(jid.description), .integer(account)])
        try database.run("DELETE FROM attempt WHERE account = ?", [.integer(account)])
    }

    /// The id with which the session can be resumed; nil if it cannot.
    package static func set(resumeID: String?, of account: Int64, in database: Database) throws {
        try database.run(
            "UPDATE session SET resume_id = ? WHERE account = ?", [.optional(resumeID), .integer(account)])
    }

    /// When the session was bound or resumed last, in milliseconds since 1970.
    package static func set(onlineAt time: Int64, of account: Int64, in database: Database) throws {
        try database.run(
            "UPDATE session SET online_at = ? WHERE account = ?", [.integer(time), .integer(account)])
    }

    /// There is no session any more.
    package static func end(of account: Int64, in database: Database) throws {
        try database.run("UPDATE session SET resume_id = NULL, jid = NULL WHERE account = ?", [.integer(account)])
    }

    /// Whether presence was sent in this session.
    package static func isAvailable(_ account: Int64, in database: Database) throws -> Bool {
        try database.statement("SELECT available FROM session WHERE account = ?")
            .first([.integer(account)]) { $0.bool() } ?? false
    }

    /// The server's limit for a stanza in bytes (XEP-0478); nil if the server has not announced one.
    package static func maxStanzaSize(of account: Int64, in database: Database) throws -> Int64? {
        try database.statement("SELECT largest_stanza FROM session WHERE account = ?")
            .first([.integer(account)]) { $0.optionalInteger() } ?? nil
    }

    /// The server's limit for a stanza in bytes (XEP-0478); nil if the server announces none.
    package static func set(largestStanza bytes: Int64?, of account: Int64, in database: Database) throws {
        try database.run(
            "UPDATE session SET largest_stanza = ? WHERE account = ?", [.optional(bytes), .integer(account)])
    }
}

/// The columns that features write, each by its own feature.
extension SessionRow {
    /// Whether the server sends copies of what other clients of the account send and receive in this session (XEP-0280).
    package static func set(carbons: Bool, of account: Int64, in database: Database) throws {
        try database.run(
            "UPDATE session SET carbons = ? WHERE account = ?", [.integer(carbons ? 1 : 0), .integer(account)])
    }

    /// Whether the server sends copies of what other clients of the account send and receive in this session (XEP-0280).
    package static func hasCarbons(_ account: Int64, in database: Database) throws -> Bool {
        try database.statement("SELECT carbons FROM session WHERE account = ?")
            .first([.integer(account)]) { $0.bool() } ?? false
    }

    /// Whether the server archives the account's messages (XEP-0313), and whether the account's stanza-ids are trusted (XEP-0359).
    package static func set(archive: Bool, stamps: Bool, of account: Int64, in database: Database) throws {
        try database.run(
            "UPDATE session SET archive = ?, stamps = ? WHERE account = ?",
            [.integer(archive ? 1 : 0), .integer(stamps ? 1 : 0), .integer(account)])
    }

    /// The state of the roster in this session.
    package static func set(roster: RosterState, of account: Int64, in database: Database) throws {
        try database.run(
            "UPDATE session SET subscribers = ? WHERE account = ?", [.state(roster), .integer(account)])
    }

    /// The order number of the last message that predates the account in this directory.
    package static func set(history position: Int64, of account: Int64, in database: Database) throws {
        try database.run(
            "UPDATE session SET history = max(history, ?) WHERE account = ?", [.integer(position), .integer(account)])
    }

    /// The order number of the last message that predates the account in this directory, and whether any address is blocked.
    package static func history(
        of account: Int64, in database: Database
    ) throws -> (position: Int64, isBlocking: Bool) {
        try database.statement("SELECT history, blocking FROM session WHERE account = ?")
            .first([.integer(account)]) { ($0.integer("history"), $0.bool("blocking")) } ?? (0, false)
    }

    /// Whether any address is blocked.
    package static func set(isBlocking: Bool, of account: Int64, in database: Database) throws {
        try database.run(
            "UPDATE session SET blocking = ? WHERE account = ?", [.integer(isBlocking ? 1 : 0), .integer(account)])
    }

    /// The state of the roster in this session.
    package static func roster(of account: Int64, in database: Database) throws -> RosterState {
        try database.statement("SELECT subscribers FROM session WHERE account = ?")
            .first([.integer(account)]) { RosterState(rawValue: $0.integer()) ?? .unknown } ?? .unknown
    }
}

/// The state of the roster in a session.
package enum RosterState: Int64 {
    /// The server has not answered yet.
    case unknown = 0
    /// The stored contacts are those of the server.
    case known = 1
    /// The server does not return the roster in this session.
    case unavailable = 2
}

/// The stream features of the last connection (RFC 6120, 4.3.2).
extension SessionRow {
    /// The offers of the server, as ``StreamFeatures/offers``.
    package static func offers(of account: Int64, in database: Database) throws -> [String] {
        let lines =
            try database.statement("SELECT offers FROM session WHERE account = ?")
            .first([.integer(account)]) { $0.text() } ?? ""
        return lines.words(at: "\n")
    }

    /// Whether the server offers the feature of this element name.
    package static func offers(
        _ name: String, _ namespace: String, to account: Int64, in database: Database
    ) throws -> Bool {
        try offers(of: account, in: database).contains { $0.exact == StreamFeatures.offer(name, namespace).exact }
    }

    /// The offers of the server, as ``StreamFeatures/offers``.
    package static func set(offers: [String], of account: Int64, in database: Database) throws {
        try database.run(
            "UPDATE session SET offers = ? WHERE account = ?",
            [.text(offers.joined(separator: "\n")), .integer(account)])
    }
}

/// How often the handling of a stanza was begun, as it is stored: of the last one in each session.
extension SessionRow {
    /// Notes that the stanza is about to be handled that makes the handled count `count`.
    /// - Returns: which attempt it is.
    package static func beginAttempt(at count: HandledCount, of account: Int64, in database: Database) throws -> Int {
        let attempts = try database.statement(
            """
            INSERT INTO attempt SELECT account, number, ?2, 1 FROM session WHERE account = ?1
            ON CONFLICT (account) DO UPDATE SET
                attempts = CASE WHEN attempt.session = excluded.session AND attempt.count = excluded.count
                    THEN attempts + 1 ELSE 1 END,
                session = excluded.session, count = excluded.count
            RETURNING attempts
            """
        ).first([.integer(account), .integer(Int64(count.value))]) { $0.integer() }
        return Int(attempts ?? 1)
    }

    /// Takes the last attempt back.
    package static func revertAttempt(of account: Int64, in database: Database) throws {
        try database.run(
            "UPDATE attempt SET attempts = max(0, attempts - 1) WHERE account = ?", [.integer(account)])
    }
}
