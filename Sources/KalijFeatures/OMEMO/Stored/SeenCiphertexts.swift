import KalijAddress
import KalijRatchet
import KalijCore
import KalijStore

/// Digests of the encrypted contents that were received: each is decrypted once, whichever stanza repeats it.
struct SeenCiphertexts {
    let step: Step
    private var account: Value { .integer(step.account.id) }

    /// After this number of further contents, a content without a message is deleted.
    private static let validity: Int64 = 20_000
    /// The interval of these deletions; and the range that each covers, since a row may have been skipped.
    private static let (interval, window): (Int64, Int64) = (100, 1000)

    /// Identifies the content. The sender is part of the digest: a copy by somebody else is another content.
    static func digest(_ bytes: [UInt8], of device: UInt32, _ sender: JID) throws -> [UInt8] {
        try ContentDigest.sha256(Array("\(sender.bare.description)\u{0}\(device)\u{0}".utf8) + bytes)
    }

    enum Seen: Equatable {
        case no
        /// In a message stored in this row; nil if there is none.
        case before(Int64?)
    }

    func find(for digest: [UInt8]) throws -> Seen {
        try step.database.statement("SELECT message FROM omemo_seen WHERE digest = ? AND account = ?")
            .first([.blob(digest), account]) { .before($0.optionalInteger()) } ?? .no
    }

    /// Records a content that was decrypted. The row of its message is set later, if there is one.
    func add(_ digest: [UInt8]) throws {
        try step.database.run(
            "INSERT OR IGNORE INTO omemo_seen(account, digest) VALUES (?, ?)", [account, .blob(digest)])
        let last = step.database.lastInsertedRow - Self.validity
        guard last > 0, last % Self.interval == 0 else { return }
        try step.database.run(
            "DELETE FROM omemo_seen WHERE id BETWEEN ? AND ? AND message IS NULL",
            [.integer(last - Self.window), .integer(last)])
    }

    /// Records that the message with the content is stored in `row`.
    func set(_ row: Int64, of digest: [UInt8]) throws {
        try step.database.run(
            """
            INSERT INTO omemo_seen(account, digest, message) VALUES (?, ?, ?)
            ON CONFLICT (digest, account) DO UPDATE SET message = excluded.message
            """, [account, .blob(digest), .integer(row)])
    }
}
