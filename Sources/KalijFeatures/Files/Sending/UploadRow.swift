import KalijAddress
import KalijCore
import KalijStore

import FoundationEssentials

/// An upload, as stored.
package struct UploadRow {
    package let id: Int64
    /// The id of the message that will share the file, and of the intent.
    package let messageID: String
    package let recipient: JID
    /// The name of the file in `files/out`.
    package let file: String
    package let description: FileDescription
    /// The text that follows the file, and its id.
    package let text: String?
    let textID: String?
    let privacy: EncryptionPreference
    /// The nonce and the key (``FileAddress/key``); nil if the file is not encrypted.
    package let key: [UInt8]?
    package let acceptedAt: Int64
    package var plan: UploadPlan

    /// The size of the PUT in bytes; for an encrypted file with its tag.
    package var putSize: Int64 {
        let size = description.size ?? 0
        return key == nil ? size : size &+ 16
    }

    init(_ row: Row) {
        id = row.integer("id")
        messageID = row.text("message_id")
        recipient = .received(row.text("recipient"))
        file = row.text("file")
        description = FileDescription(
            name: row.text("name"), type: row.text("type"), size: row.integer("size"), sha256: row.blob("sha256"),
            width: row.optionalInteger("width"), height: row.optionalInteger("height"))
        text = row.optionalText("text")
        textID = row.optionalText("text_id")
        privacy = EncryptionPreference(rawValue: row.text("privacy")) ?? .encrypted
        key = row.optionalBlob("key")
        acceptedAt = row.integer("accepted_at")
        plan = UploadPlan()
        plan.stage = UploadPlan.Stage(rawValue: row.text("state")) ?? .waiting
        plan.reason = row.optionalText("reason")
        plan.notBefore = row.integer("not_before")
        plan.slot = row.optionalBlob("slot").flatMap { try? JSONDecoder().decode(UploadSlot.self, from: Data($0)) }
        plan.requestedAt = row.integer("asked_at")
        plan.failures = row.integer("failures")
        plan.checks = row.integer("looks")
        plan.refusals = row.integer("refusals")
        plan.slots = row.integer("slots")
        plan.slotsSince = row.integer("slots_since")
    }
}

/// The stored uploads of an account.
package struct UploadRows {
    package let database: Database
    package let account: Int64

    package init(database: Database, account: Int64) { (self.database, self.account) = (database, account) }

    package func row(_ id: Int64) throws -> UploadRow? {
        try database.statement(
            """
            SELECT id, message_id, recipient, file, name, type, size, sha256, width, height, text, text_id, privacy, key,
                accepted_at, state, reason, not_before, slot, asked_at, failures, looks, refusals, slots, slots_since
            FROM upload WHERE id = ? AND account = ?
            """
        ).first([.integer(id), .integer(account)]) { UploadRow($0) }
    }

    package func row(for messageID: String) throws -> UploadRow? {
        try database.statement("SELECT id FROM upload WHERE account = ? AND message_id = ?")
            .first([.integer(account), .text(messageID)]) { $0.integer() }.flatMap { try row($0) }
    }

    /// All uploads, in the order of acceptance.
    package func all() throws -> [UploadRow] {
        try database.statement(
            """
            SELECT id, message_id, recipient, file, name, type, size, sha256, width, height, text, text_id, privacy, key,
                accepted_at, state, reason, not_before, slot, asked_at, failures, looks, refusals, slots, slots_since
            FROM upload WHERE account = ? ORDER BY id
            """
        ).all([.integer(account)]) { UploadRow($0) }
    }

    func insert(_ file: SendFile, id: String, acceptedAt: Int64) throws {
        try database.run(
            """
            INSERT INTO upload(account, message_id, recipient, file, name, type, size, sha256, width, height, text, text_id,
                privacy, accepted_at, state)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                .integer(account), .text(id), .text(file.to), .text(file.file), .text(file.name), .text(file.type),
                .integer(file.size), .blob(file.sha256), .optional(file.width), .optional(file.height),
                .optional(file.text), .optional(file.textID), .state(file.privacy), .integer(acceptedAt),
                .state(UploadPlan.Stage.waiting),
            ])
    }

    func set(_ plan: UploadPlan, of id: Int64) throws {
        let slot = try plan.slot.map { [UInt8](try JSONEncoder().encode($0)) }
        try database.run(
            """
            UPDATE upload SET state = ?, reason = ?, not_before = ?, slot = ?, asked_at = ?, failures = ?, looks = ?,
                refusals = ?, slots = ?, slots_since = ? WHERE id = ?
            """,
            [
                .state(plan.stage), .optional(plan.reason), .integer(plan.notBefore), .optional(slot),
                .integer(plan.requestedAt), .integer(plan.failures), .integer(plan.checks), .integer(plan.refusals),
                .integer(plan.slots), .integer(plan.slotsSince), .integer(id),
            ])
    }

    func set(key: [UInt8], of id: Int64) throws {
        try database.run("UPDATE upload SET key = ? WHERE id = ?", [.blob(key), .integer(id)])
    }

    func remove(_ id: Int64) throws { try database.run("DELETE FROM upload WHERE id = ?", [.integer(id)]) }

    func removeAll() throws { try database.run("DELETE FROM upload WHERE account = ?", [.integer(account)]) }

    /// The transfers in progress: a few at a time.
    package func active() throws -> [UploadRow] {
        try database.statement(
            """
            SELECT id, message_id, recipient, file, name, type, size, sha256, width, height, text, text_id, privacy, key,
                accepted_at, state, reason, not_before, slot, asked_at, failures, looks, refusals, slots, slots_since
            FROM upload WHERE account = ? AND state IN ('asking', 'putting', 'sealed') ORDER BY id
            """
        ).all([.integer(account)]) { UploadRow($0) }
    }

    /// The waiting files that are due at `now`, in the order of acceptance; at most `limit`.
    package func due(at now: Int64, limit: Int64) throws -> [UploadRow] {
        try database.statement(
            """
            SELECT id, message_id, recipient, file, name, type, size, sha256, width, height, text, text_id, privacy, key,
                accepted_at, state, reason, not_before, slot, asked_at, failures, looks, refusals, slots, slots_since
            FROM upload WHERE account = ? AND state = 'waiting' AND not_before <= ? ORDER BY not_before, id LIMIT ?
            """
        ).all([.integer(account), .integer(now), .integer(limit)]) { UploadRow($0) }
    }

    /// When the next waiting or failed file is due; nil if there is none.
    package func nextDue() throws -> Int64? {
        try database.statement(
            "SELECT min(not_before) FROM upload WHERE account = ? AND state IN ('waiting', 'failed')"
        ).first([.integer(account)]) { $0.optionalInteger() } ?? nil
    }

    /// The failed uploads whose retention has ended at the time `now`; at most 100.
    package func forgettable(at now: Int64) throws -> [UploadRow] {
        let ids = try database.statement(
            "SELECT id FROM upload WHERE account = ? AND state = 'failed' AND not_before <= ? LIMIT 100"
        ).all([.integer(account), .integer(now)]) { $0.integer() }
        return try ids.compactMap { try row($0) }
    }

    /// Whether a process that ends by itself has to continue: for transfers in progress, or ready to begin. Uploads that wait for a
    /// time do not count.
    func hasOutstandingWork() throws -> Bool {
        try database.statement(
            """
            SELECT 1 FROM upload WHERE account = ?1 AND state IN ('asking', 'putting', 'sealed')
            UNION ALL SELECT 1 FROM upload WHERE account = ?1 AND state = 'waiting' AND not_before = 0 LIMIT 1
            """
        ).first([.integer(account)]) { _ in true } ?? false
    }

    /// Whether the file `name` in `files/out` belongs to an upload of any account.
    package static func isKnown(_ name: String, in database: Database) throws -> Bool {
        try database.statement("SELECT 1 FROM upload WHERE file = ? LIMIT 1").first([.text(name)]) { _ in true }
            ?? false
    }

    /// The number of stored uploads, and their bytes; of at most 1,000 files.
    package func stored() throws -> (count: Int64, bytes: Int64) {
        try database.statement(
            "SELECT count(*) AS count, coalesce(sum(size), 0) AS bytes FROM (SELECT size FROM upload WHERE account = ? LIMIT 1000)"
        ).first([.integer(account)]) { ($0.integer("count"), $0.integer("bytes")) } ?? (0, 0)
    }
}
