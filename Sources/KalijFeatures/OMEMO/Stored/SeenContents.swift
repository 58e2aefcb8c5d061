import KalijAddress
import KalijRatchet
import KalijSteps
import KalijStore

/// The encrypted contents that have come: each is read once, whoever shows it again.
struct SeenContents {
    let step: Step
    private var account: Value { .integer(step.account.id) }

    /// How many contents without a message are known.
    private static let mostEmpty: Int64 = 10_000

    /// Names the content. The sender is a part of the name: what somebody copies is another content.
    static func digest(_ bytes: [UInt8], of device: UInt32, _ sender: JID) throws -> [UInt8] {
        try Digest.sha256(Array("\(sender.bare.description)\u{0}\(device)\u{0}".utf8) + bytes)
    }

    enum Seen: Equatable {
        case no
        /// In a message that is stored in this row; nil if it has none.
        case before(Int64?)
    }

    func look(for digest: [UInt8]) throws -> Seen {
        try step.database.statement("SELECT message FROM omemo_seen WHERE digest = ? AND account = ?")
            .first([.blob(digest), account]) { .before($0.optionalInteger()) } ?? .no
    }

    /// A content was read. Its message gets a row later, or none.
    func add(_ digest: [UInt8]) throws {
        try step.database.run(
            "INSERT OR IGNORE INTO omemo_seen(account, digest) VALUES (?, ?)", [account, .blob(digest)])
        guard step.database.lastInsertedRow % 100 == 0 else { return }
        try step.database.run(
            """
            DELETE FROM omemo_seen WHERE account = ?1 AND message IS NULL AND id <=
                (SELECT id FROM omemo_seen WHERE account = ?1 AND message IS NULL ORDER BY id DESC LIMIT 1 OFFSET ?2)
            """, [account, .integer(Self.mostEmpty)])
    }

    /// The message with the content was stored in `row`.
    func set(_ row: Int64, of digest: [UInt8]) throws {
        try step.database.run(
            """
            INSERT INTO omemo_seen(account, digest, message) VALUES (?, ?, ?)
            ON CONFLICT (digest, account) DO UPDATE SET message = excluded.message
            """, [account, .blob(digest), .integer(row)])
    }
}
