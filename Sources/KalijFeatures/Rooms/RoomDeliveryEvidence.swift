import KalijCore
import KalijStore

import FoundationEssentials

/// What a room's archive or history proves about messages in doubt.
struct RoomDeliveryEvidence {
    let step: Step
    let room: RoomRow
    private var key: [Value] { [.integer(step.account.id), .text(room.jid.description)] }

    /// The history of a room without an archive is requested from this many milliseconds before the last message shown.
    private static let overlap: Int64 = 60_000
    /// No archive discards messages within this time, in milliseconds.
    private static let memory: Int64 = 24 * 3600 * 1000

    /// Whether the absence of `message` from the archive proves that the message has not arrived. It does if this reading of the
    /// archive has returned the message that was the newest when `message` was sent, or an older message: then the archive has not
    /// discarded what followed. If no message was known when `message` was sent, as in a new room, a message of the last 24 hours
    /// cannot have been discarded.
    func isProven(_ message: Int64, by round: Int64) throws -> Bool {
        try step.database.statement(
            """
            SELECT 1 FROM message m CROSS JOIN message a ON a.stanza_id = m.anchor
            WHERE m.id = ?3 AND a.account = ?1 AND a.archive = ?2 AND a.catchup = ?4
            UNION ALL
            SELECT 1 FROM (SELECT id, catchup FROM message WHERE account = ?1 AND conversation = ?2 AND shown = 1
                ORDER BY position DESC LIMIT 400) WHERE id < ?3 AND catchup = ?4
            UNION ALL
            SELECT 1 FROM message WHERE id = ?3 AND anchor IS NULL AND sent_at > ?5
            LIMIT 1
            """
        ).first(
            key + [.integer(message), .integer(round), .integer(ServerTime(step: step).now - Self.memory)]
        ) { _ in true } ?? false
    }

    /// From when a room without an archive shall send its history: since shortly before the last message that was shown ahead of the
    /// first message in doubt.
    func historyBegin() throws -> Date? {
        guard !room.info.hasArchive else { return nil }
        let known = try step.database.statement(
            """
            SELECT sent_at FROM message WHERE account = ?1 AND conversation = ?2 AND shown = 1 AND position < coalesce(
                (SELECT m.position FROM room_message r CROSS JOIN message m ON m.id = r.message
                    WHERE r.account = ?1 AND r.room = ?2 AND r.state = ?3 ORDER BY r.message LIMIT 1), ?4)
            ORDER BY position DESC LIMIT 1
            """
        ).first(key + [.integer(RoomOutbox.State.doubtful.rawValue), .integer(.max)]) { $0.integer() }
        return known.map { Date(timeIntervalSince1970: Double($0 - Self.overlap) / 1000) }
    }
}
