import KalijAddress
import KalijRatchet
import KalijSteps
import KalijStore

/// The encrypted contents that have come: each is read once, whoever shows it again.
struct SeenCiphertexts {
    let step: Step
    private var account: Value { .integer(step.account.id) }

    /// So many contents later a content without a message is forgotten.
    private static let validity: Int64 = 20_000
    /// How often that is looked at; and how far back, because a row may have been passed over.
    private static let (portion, window): (Int64, Int64) = (100, 1000)

    /// Names the content. The sender is a part of the name: what somebody copies is another content.
    static func digest(_ bytes: [UInt8], of device: UInt32, _ sender: JID) throws -> [UInt8] {
        try ContentDigest.sha256(Array("\(sender.bare.description)\u{0}\(device)\u{0}".utf8) + bytes)
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
        let last = step.database.lastInsertedRow - Self.validity
        guard last > 0, last % Self.portion == 0 else { return }
        try step.database.run(
            "DELETE FROM omemo_seen WHERE id BETWEEN ? AND ? AND message IS NULL",
            [.integer(last - Self.window), .integer(last)])
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
