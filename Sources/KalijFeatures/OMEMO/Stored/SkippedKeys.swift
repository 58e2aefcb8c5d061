import KalijRatchet
import KalijCore
import KalijStore

/// The keys of messages that were skipped. The oldest are deleted first; if the total exceeds its limit, those of the address with the
/// most keys: strangers with many addresses must not cost a contact any message.
struct SkippedKeys {
    let step: Step
    private var database: Database { step.database }

    /// The number of keys that are added between two checks of the limits.
    private static let checkInterval: Int64 = 64
    /// The maximum for a session, for an address, and in total.
    private static let (ofSession, ofAddress, ofAll): (Int64, Int64, Int64) = (1000, 5000, 50_000)

    /// The share of all unproven devices: their skipped keys together have the limit of one address.
    static let unproven: Int64 = 0

    func key(_ name: Session.SkippedKey.Name, of session: Int64) throws -> Secret? {
        try database.statement("SELECT key FROM omemo_kept WHERE session = ? AND ratchet = ? AND number = ?")
            .first([.integer(session), .blob(name.key.bytes), .integer(Int64(name.number))]) { Secret($0.blob()) }
    }

    func remove(_ name: Session.SkippedKey.Name, of session: Int64) throws {
        try database.run(
            "DELETE FROM omemo_kept WHERE session = ? AND ratchet = ? AND number = ?",
            [.integer(session), .blob(name.key.bytes), .integer(Int64(name.number))])
    }

    func add(_ keys: [Session.SkippedKey], of session: Int64, in list: Int64) throws {
        guard !keys.isEmpty else { return }
        for key in keys {
            try database.run(
                "INSERT OR REPLACE INTO omemo_kept(session, list, ratchet, number, key) VALUES (?, ?, ?, ?, ?)",
                [
                    .integer(session), .integer(list), .blob(key.name.key.bytes), .integer(Int64(key.name.number)),
                    .blob(key.messageKey.exported),
                ])
        }
        // Rows are counted only at intervals, because counting takes longer than storing a key.
        let isRound = database.lastInsertedRow % Self.checkInterval < Int64(keys.count)
        if isRound { try drop(session, list) }
    }

    private func drop(_ session: Int64, _ list: Int64) throws {
        try database.run(
            """
            DELETE FROM omemo_kept WHERE session = ?1 AND id <=
                (SELECT id FROM omemo_kept WHERE session = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)
            """, [.integer(session), .integer(Self.ofSession)])
        try database.run(
            """
            DELETE FROM omemo_kept WHERE list = ?1 AND id <=
                (SELECT id FROM omemo_kept WHERE list = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)
            """, [.integer(list), .integer(Self.ofAddress)])
        // Rows are counted only if the range of ids exceeds the limit.
        let first = try database.statement("SELECT min(id) FROM omemo_kept").first { $0.integer() } ?? 0
        guard database.lastInsertedRow - first > Self.ofAll else { return }
        try dropLargest(try database.statement("SELECT count(*) FROM omemo_kept").first { $0.integer() } ?? 0)
    }

    private func dropLargest(_ count: Int64) throws {
        var excess = count - Self.ofAll
        while excess > 0 {
            let list = try database.statement(
                "SELECT list FROM omemo_kept GROUP BY list ORDER BY count(*) DESC, list LIMIT 1"
            ).first { $0.integer() }
            guard let list else { return }
            try database.run(
                "DELETE FROM omemo_kept WHERE id IN (SELECT id FROM omemo_kept WHERE list = ? ORDER BY id LIMIT ?)",
                [.integer(list), .integer(excess)])
            excess -= Int64(database.changes)
        }
    }
}
