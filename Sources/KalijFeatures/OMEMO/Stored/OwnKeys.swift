import KalijRatchet
import KalijCore
import KalijStore

/// The own prekeys of one version.
struct OwnKeys {
    let step: Step
    let dialect: OMEMOVersion
    private var database: Database { step.database }
    private var key: [Value] { [.integer(step.account.id), .integer(Int64(dialect.rawValue))] }

    /// The number of prekeys in the bundle.
    static let prekeyCount: Int64 = 100
    /// With fewer prekeys the bundle is published immediately.
    static let minPrekeys: Int64 = 25
    /// In milliseconds: how long a signed prekey is in the bundle, and how long it is kept afterwards.
    private static let (age, afterwards): (Int64, Int64) = (7 * 86_400_000, 30 * 86_400_000)
    /// In milliseconds: how long a used prekey is kept. Until the next bundle was published and fetched, other devices choose among the
    /// same prekeys: of two devices, one in a hundred chooses the other's prekey.
    private static let usedAge: Int64 = 86_400_000

    // MARK: The bundle

    /// The bundle, with new prekeys in place of those that were used.
    func bundle(_ identity: Identity) throws -> BundleElement {
        try refill()
        let signed = try signed() ?? makeSigned()
        let prekeys = try database.statement(
            "SELECT id, public FROM omemo_prekey WHERE account = ? AND dialect = ? AND used = 0 ORDER BY id"
        ).all(key) { (id: UInt32(clamping: $0.integer("id")), key: dialect.written(try PublicKey($0.blob("public")))) }
        return BundleElement(
            identity: dialect.written(identity.publicIdentity), signedPrekey: (signed.id, dialect.written(signed.key)),
            signature: try identity.sign(signed.key, dialect), prekeys: prekeys)
    }

    /// The number of unused prekeys.
    func unused() throws -> Int64 {
        try database.statement("SELECT count(*) FROM omemo_prekey WHERE account = ? AND dialect = ? AND used = 0")
            .first(key) { $0.integer() } ?? 0
    }

    private func refill() throws {
        for _ in try unused()..<max(Self.prekeyCount, try unused()) {
            let pair = try KeyPair.make()
            try database.run(
                "INSERT INTO omemo_prekey(account, dialect, id, key, public, used) VALUES (?, ?, ?, ?, ?, 0)",
                key + [.integer(try nextID()), .blob(pair.secret.exported), .blob(pair.key.bytes)])
        }
    }

    private func nextID() throws -> Int64 {
        try database.statement(
            "UPDATE omemo_own SET next_id = next_id + 1 WHERE account = ? AND dialect = ? RETURNING next_id - 1 AS id"
        ).first(key) { $0.integer("id") } ?? 1
    }

    /// Excludes all ids up to `last` from further use.
    func skip(through last: UInt32) throws {
        try database.run(
            "UPDATE omemo_own SET next_id = max(next_id, ?) WHERE account = ? AND dialect = ?",
            [.integer(Int64(last) + 1)] + key)
    }

    /// The highest id that was assigned.
    func last() throws -> Int64 {
        try database.statement("SELECT next_id - 1 AS id FROM omemo_own WHERE account = ? AND dialect = ?")
            .first(key) { $0.integer("id") } ?? 0
    }

    // MARK: Signed prekeys

    struct Signed {
        let id: UInt32
        let key: PublicKey
        let madeAt: Int64
    }

    /// The signed prekey of the bundle.
    func signed() throws -> Signed? {
        try database.statement(
            """
            SELECT id, public, made_at FROM omemo_signed WHERE account = ? AND dialect = ? AND replaced_at IS NULL
            ORDER BY id DESC LIMIT 1
            """
        ).first(key) {
            Signed(
                id: UInt32(clamping: $0.integer("id")), key: try PublicKey($0.blob("public")),
                madeAt: $0.integer("made_at"))
        }
    }

    private func makeSigned() throws -> Signed {
        let (pair, id) = (try KeyPair.make(), try nextID())
        try database.run(
            "UPDATE omemo_signed SET replaced_at = ?3 WHERE account = ?1 AND dialect = ?2 AND replaced_at IS NULL",
            key + [.integer(step.now)])
        try database.run(
            "INSERT INTO omemo_signed(account, dialect, id, key, public, made_at, read) VALUES (?, ?, ?, ?, ?, ?, 0)",
            key + [.integer(id), .blob(pair.secret.exported), .blob(pair.key.bytes), .integer(step.now)])
        return Signed(id: UInt32(clamping: id), key: pair.key, madeAt: step.now)
    }

    /// Replaces an expired signed prekey, and deletes those that were replaced long ago.
    /// - Returns: whether the bundle has changed.
    func rotate() throws -> Bool {
        try database.run(
            "DELETE FROM omemo_signed WHERE account = ? AND dialect = ? AND replaced_at < ? AND read = 1",
            key + [.integer(step.now - Self.afterwards)])
        guard let signed = try signed(), signed.madeAt < step.now - Self.age else { return false }
        _ = try makeSigned()
        return true
    }

    // MARK: Use

    /// The signed prekey of a key exchange.
    func signedPair(_ id: UInt32) throws -> KeyPair? {
        try database.statement("SELECT key FROM omemo_signed WHERE account = ? AND dialect = ? AND id = ?")
            .first(key + [.integer(Int64(id))]) { try KeyPair(secret: Secret($0.blob())) }
    }

    /// The prekey of a key exchange; also a used one, as long as it is stored.
    func prekey(_ id: UInt32) throws -> (secret: Secret, isUsed: Bool)? {
        try database.statement("SELECT key, used FROM omemo_prekey WHERE account = ? AND dialect = ? AND id = ?")
            .first(key + [.integer(Int64(id))]) { (Secret($0.blob("key")), $0.bool("used")) }
    }

    /// Marks the prekey as used, which removes it from the bundle.
    func use(_ id: UInt32) throws {
        try database.run(
            "UPDATE omemo_prekey SET used = max(1, ?4) WHERE account = ?1 AND dialect = ?2 AND id = ?3",
            key + [.integer(Int64(id)), .integer(step.steady.now)])
    }

    /// Deletes prekeys that were used long ago. Messages of the archive may require them until the archive was read.
    func forgetUsed() throws {
        let now = step.steady.now
        // After a reboot the clock may differ.
        try database.run(
            "UPDATE omemo_prekey SET used = max(1, ?3) WHERE account = ?1 AND dialect = ?2 AND used > ?3",
            key + [.integer(now)])
        try database.run(
            "DELETE FROM omemo_prekey WHERE account = ?1 AND dialect = ?2 AND used > 0 AND used <= ?3",
            key + [.integer(now - Self.usedAge)])
    }

    /// Handles the end of the reading of the archive.
    func archiveRead() throws {
        try forgetUsed()
        try database.run(
            "UPDATE omemo_signed SET read = 1 WHERE account = ? AND dialect = ? AND replaced_at IS NOT NULL", key)
    }

    /// Deletes all keys.
    func removeAll() throws {
        try database.run("DELETE FROM omemo_prekey WHERE account = ? AND dialect = ?", key)
        try database.run("DELETE FROM omemo_signed WHERE account = ? AND dialect = ?", key)
    }
}
