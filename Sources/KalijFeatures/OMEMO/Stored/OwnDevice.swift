import KalijRatchet
import KalijCore
import KalijStore

/// This device of the account: its id, and its identity key, which both formats share.
struct OwnDevice {
    let id: UInt32
    private let seed: Secret
    /// When the device was created, in the server's time: older messages were not encrypted for it.
    let madeAt: Int64
    /// Whether messages may be encrypted: the keys are published in this session, and the archive was read.
    let isOpen: Bool
    let isRead: Bool
    let file: String?
    /// When the database was detected to be an old copy, in the steady time.
    let restoredAt: Int64?
    /// Whether no message was encrypted since.
    let isRestoring: Bool

    /// Nil if the account has no device yet.
    static func load(_ account: Int64, from database: Database) throws -> OwnDevice? {
        try database.statement(
            "SELECT device, seed, made_at, file, read, open, restored_at, restoring FROM omemo_device WHERE account = ?"
        ).first([.integer(account)]) { row in
            OwnDevice(
                id: UInt32(clamping: row.integer("device")), seed: Secret(row.blob("seed")),
                madeAt: row.integer("made_at"), isOpen: row.bool("open"), isRead: row.bool("read"),
                file: row.optionalText("file"), restoredAt: row.optionalInteger("restored_at"),
                isRestoring: row.bool("restoring"))
        }
    }

    /// The identity key, derived on demand: most messages do not require it.
    var identity: Identity { get throws { try Identity(seed: seed) } }

    /// Loads only the id.
    static func id(of account: Int64, in database: Database) throws -> UInt32? {
        try database.statement("SELECT device FROM omemo_device WHERE account = ?")
            .first([.integer(account)]) { UInt32(clamping: $0.integer()) }
    }

    /// Creates the device. Its keys are new, so the archive need not be read before it encrypts.
    static func make(_ id: UInt32, in step: Step) throws {
        try step.database.run(
            "INSERT OR IGNORE INTO omemo_device(account, device, seed, made_at, read, open, restoring) VALUES (?, ?, ?, ?, 1, 0, 0)",
            [
                .integer(step.account.id), .integer(Int64(id)), .blob(try Identity.make().seed.exported),
                .integer(try ServerTime(step: step).now),
            ])
    }

    static func set(id: UInt32, in step: Step) throws {
        try step.database.run(
            "UPDATE omemo_device SET device = ? WHERE account = ?", [.integer(Int64(id)), .integer(step.account.id)])
    }

    static func set(isRead: Bool, in step: Step) throws {
        try step.database.run(
            "UPDATE omemo_device SET read = ? WHERE account = ?",
            [.integer(isRead ? 1 : 0), .integer(step.account.id)])
    }

    static func set(isOpen: Bool, in step: Step) throws {
        try step.database.run(
            "UPDATE omemo_device SET open = ?1, restoring = restoring AND NOT ?1 WHERE account = ?2",
            [.integer(isOpen ? 1 : 0), .integer(step.account.id)])
    }

    /// An id that is not in `others` (XEP-0384 section 4.3).
    static func newID(besides others: [UInt32]) throws -> UInt32 {
        while true {
            let id = try RandomNumber.from(1...RatchetLimits.largestNumber)
            if !others.contains(id) { return id }
        }
    }
}
