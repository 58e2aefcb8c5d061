import KalijAddress
import KalijRatchet
import KalijCore
import KalijStore

/// A device of another account, or another device of the account.
struct PeerDevice {
    /// The id of the row.
    let id: Int64
    let list: Int64
    let jid: JID
    let dialect: OMEMOVersion
    let device: UInt32
    let isListed: Bool
    /// The Curve25519 form of the identity key; nil if none was proven.
    let identity: [UInt8]?
    let isRequested: Bool
    let badUntil: Int64?
    /// The reason why the device is excluded.
    let problem: String?
    let readAt: Int64
    let healAt: Int64?
    let hasSession: Bool
    let isStranger: Bool

    /// The name of the device for people.
    var name: String { "\(jid)/\(device)" }

    init(_ row: Row) {
        id = row.integer("id")
        list = row.integer("list")
        jid = .received(row.text("jid"))
        dialect = OMEMOVersion(rawValue: Int(row.integer("dialect"))) ?? .axolotl
        device = UInt32(clamping: row.integer("device"))
        isListed = row.bool("listed")
        identity = row.optionalBlob("identity")
        isRequested = row.bool("asked")
        badUntil = row.optionalInteger("bad_until")
        problem = row.optionalText("problem")
        readAt = row.integer("read_at")
        healAt = row.optionalInteger("heal_at")
        hasSession = row.bool("has_session")
        isStranger = row.bool("stranger")
    }
}

/// The stored devices.
struct PeerDevices {
    let step: Step
    private var database: Database { step.database }

    /// The maximum number of stored devices of an address that its list does not contain.
    private static let maxUnlisted: Int64 = 64
    /// The maximum number of pending requests for bundles.
    static let maxRequests: Int64 = 20
    /// The maximum number for devices of one address: a server that does not respond must not delay requests to all others.
    private static let maxRequestsOfList: Int64 = 10

    func all(of list: PeerList) throws -> [PeerDevice] {
        try database.statement(
            """
            SELECT p.id, p.list, l.jid, l.dialect, p.device, p.listed, p.identity, p.asked, p.bad_until, p.problem, p.read_at,
                p.heal_at, l.stranger, EXISTS (SELECT 1 FROM omemo_session s WHERE s.peer = p.id) AS has_session
            FROM omemo_list l CROSS JOIN omemo_peer p ON p.list = l.id WHERE l.id = ? ORDER BY p.device
            """
        ).all([.integer(list.id)], PeerDevice.init)
    }

    func device(_ id: Int64) throws -> PeerDevice? {
        try database.statement(
            """
            SELECT p.id, p.list, l.jid, l.dialect, p.device, p.listed, p.identity, p.asked, p.bad_until, p.problem, p.read_at,
                p.heal_at, l.stranger, EXISTS (SELECT 1 FROM omemo_session s WHERE s.peer = p.id) AS has_session
            FROM omemo_peer p CROSS JOIN omemo_list l ON l.id = p.list WHERE p.id = ?
            """
        ).first([.integer(id)], PeerDevice.init)
    }

    func device(_ device: UInt32, of jid: JID, _ dialect: OMEMOVersion) throws -> PeerDevice? {
        try database.statement(
            """
            SELECT p.id, p.list, l.jid, l.dialect, p.device, p.listed, p.identity, p.asked, p.bad_until, p.problem, p.read_at,
                p.heal_at, l.stranger, EXISTS (SELECT 1 FROM omemo_session s WHERE s.peer = p.id) AS has_session
            FROM omemo_list l CROSS JOIN omemo_peer p ON p.list = l.id
            WHERE l.account = ? AND l.jid = ? AND l.dialect = ? AND p.device = ?
            """
        ).first(
            [
                .integer(step.account.id), .text(jid.bare.description), .integer(Int64(dialect.rawValue)),
                .integer(Int64(device)),
            ], PeerDevice.init)
    }

    func device(_ device: UInt32, of list: PeerList) throws -> PeerDevice? {
        let id = try database.statement("SELECT id FROM omemo_peer WHERE list = ? AND device = ?")
            .first([.integer(list.id), .integer(Int64(device))]) { $0.integer() }
        return try id.flatMap { try self.device($0) }
    }

    /// The devices with this id, of any address.
    func devices(called device: UInt32, _ dialect: OMEMOVersion, limit: Int) throws -> [PeerDevice] {
        try database.statement(
            """
            SELECT p.id, p.list, l.jid, l.dialect, p.device, p.listed, p.identity, p.asked, p.bad_until, p.problem, p.read_at,
                p.heal_at, l.stranger, EXISTS (SELECT 1 FROM omemo_session s WHERE s.peer = p.id) AS has_session
            FROM omemo_peer p CROSS JOIN omemo_list l ON l.id = p.list
            WHERE p.device = ? AND l.account = ? AND l.dialect = ? ORDER BY p.id LIMIT ?
            """
        ).all(
            [
                .integer(Int64(device)), .integer(step.account.id), .integer(Int64(dialect.rawValue)),
                .integer(Int64(limit)),
            ], PeerDevice.init)
    }

    /// - Returns: the device, created if it was not stored.
    @discardableResult
    func make(_ device: UInt32, in list: PeerList, isListed: Bool) throws -> PeerDevice? {
        try database.run(
            "INSERT OR IGNORE INTO omemo_peer(list, device, listed, asked, read_at, fails) VALUES (?, ?, ?, 0, 0, 0)",
            [.integer(list.id), .integer(Int64(device)), .integer(isListed ? 1 : 0)])
        return try self.device(device, of: list)
    }

    /// Whether a device may be added that the list does not contain and that has no session.
    func mayAdd(to list: PeerList) throws -> Bool {
        let count = try database.statement("SELECT count(*) FROM omemo_peer WHERE list = ? AND listed = 0")
            .first([.integer(list.id)]) { $0.integer() }
        return count ?? 0 < Self.maxUnlisted
    }

    /// Deletes excess devices that the list does not contain: first those without a proven key, then those without a session, then the
    /// oldest.
    func dropUnlisted(_ list: Int64, except device: PeerDevice) throws {
        try database.run(
            """
            DELETE FROM omemo_peer WHERE id IN (SELECT p.id FROM omemo_peer p WHERE p.list = ? AND p.listed = 0 AND p.id <> ?
                ORDER BY p.identity IS NOT NULL DESC, EXISTS (SELECT 1 FROM omemo_session s WHERE s.peer = p.id) DESC, p.read_at DESC, p.id DESC
                LIMIT -1 OFFSET ?)
            """, [.integer(list), .integer(device.id), .integer(Self.maxUnlisted - 1)])
    }

    func remove(_ device: PeerDevice) throws {
        try database.run("DELETE FROM omemo_peer WHERE id = ?", [.integer(device.id)])
    }

    func set(isListed: Bool, of device: PeerDevice) throws {
        try database.run(
            "UPDATE omemo_peer SET listed = ? WHERE id = ?", [.integer(isListed ? 1 : 0), .integer(device.id)])
    }

    func set(identity: PublicKey, of device: PeerDevice) throws {
        try database.run(
            "UPDATE omemo_peer SET identity = ? WHERE id = ?", [.blob(identity.bytes), .integer(device.id)])
    }

    /// Records the stamp of the newest message of the device that was decrypted. The stored stamp may lag by a minute, to avoid a write
    /// for each message.
    func set(readAt: Int64, of device: PeerDevice) throws {
        try database.run(
            """
            UPDATE omemo_peer SET read_at = max(read_at, ?2), fails = 0
            WHERE id = ?1 AND (fails > 0 OR read_at < ?2 - 60000)
            """, [.integer(device.id), .integer(readAt)])
    }

    /// Counts a message of the device that could not be decrypted.
    /// - Returns: the number of consecutive failures.
    func failed(_ device: PeerDevice) throws -> Int64 {
        try database.statement("UPDATE omemo_peer SET fails = fails + 1 WHERE id = ? RETURNING fails")
            .first([.integer(device.id)]) { $0.integer() } ?? 0
    }

    func set(healAt: Int64, of device: PeerDevice) throws {
        try database.run(
            "UPDATE omemo_peer SET heal_at = ? WHERE id = ?", [.integer(healAt), .integer(device.id)])
    }

    // MARK: Requests for bundles

    /// Excludes the device for `duration`.
    func leaveOut(_ device: PeerDevice, _ problem: String, for duration: Duration) throws {
        try database.run(
            "UPDATE omemo_peer SET asked = 0, bad_until = ?, problem = ? WHERE id = ?",
            [.integer(step.steady.now + duration.milliseconds), .text(problem), .integer(device.id)])
    }

    func set(isAsked: Bool, of device: PeerDevice) throws {
        try database.run(
            "UPDATE omemo_peer SET asked = ?, bad_until = NULL, problem = NULL WHERE id = ?",
            [.integer(isAsked ? 1 : 0), .integer(device.id)])
    }

    /// Whether another bundle of a device of `list` may be requested now.
    func mayRequest(_ list: Int64) throws -> Bool {
        let own = try database.statement("SELECT count(*) FROM omemo_peer WHERE list = ? AND asked = 1")
            .first([.integer(list)]) { $0.integer() }
        guard own ?? 0 < Self.maxRequestsOfList else { return false }
        let asked =
            try database.statement("SELECT count(*) FROM (SELECT 1 FROM omemo_peer WHERE asked = 1 LIMIT ?)")
            .first([.integer(Self.maxRequests)]) { $0.integer() } ?? 0
        return asked < Self.maxRequests
    }

    func forgetQuestions() throws {
        try database.run(
            """
            UPDATE omemo_peer SET asked = 0
            WHERE asked = 1 AND list IN (SELECT id FROM omemo_list WHERE account = ?)
            """, [.integer(step.account.id)])
    }
}
