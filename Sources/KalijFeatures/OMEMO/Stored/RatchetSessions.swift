import KalijRatchet
import KalijCore
import KalijStore

/// A stored session with a device.
struct RatchetRow {
    let id: Int64
    let peer: Int64
    var session: Session
    let place: Int64
    let sends: Bool

    init(_ row: Row) throws {
        (id, peer) = (row.integer("id"), row.integer("peer"))
        session = try Session(stored: row.blob("data"))
        (place, sends) = (row.integer("place"), row.bool("sends"))
    }
}

/// The stored sessions. At most three of each device are kept; the one with the newest message sends.
struct RatchetSessions {
    let step: Step
    private var database: Database { step.database }

    private static let maxPerDevice: Int64 = 3
    /// The maximum for the addresses of strangers.
    private static let maxOfStrangers: Int64 = 200

    /// All sessions, the newest first. A corrupted session is treated as lost.
    func all(of device: PeerDevice) throws -> [RatchetRow] {
        try database.statement(
            "SELECT id, peer, data, place, sends FROM omemo_session WHERE peer = ? ORDER BY place DESC, id DESC"
        ).all([.integer(device.id)]) { try? RatchetRow($0) }.compactMap { $0 }
    }

    /// The session that sends; nil if there is none.
    func sending(_ device: PeerDevice) throws -> RatchetRow? {
        guard device.hasSession else { return nil }
        return try all(of: device).first { $0.sends }
    }

    /// The place of a session whose key is not proven to be the device's. The session never sends, and displaces no other.
    static let unproven: Int64 = -1

    /// The place of a session that is newer than the one at `newest`, in the server's time, which also stamps the archive's messages.
    func place(after newest: Int64?) throws -> Int64 {
        let now = try ServerTime(step: step).now
        return newest.map { max(now, $0 &+ 1) } ?? now
    }

    /// - Parameter place: the stamp of the newest message, or ``place(after:)``.
    func add(_ session: Session, of device: PeerDevice, place: Int64, sends: Bool) throws {
        _ = try insert(session, of: device, place: place, sends: sends)
    }

    /// - Returns: the id of the row.
    func insert(_ session: Session, of device: PeerDevice, place: Int64, sends: Bool) throws -> Int64 {
        try database.run(
            "INSERT INTO omemo_session(account, peer, data, place, sends, prekey, stranger) VALUES (?, ?, ?, ?, ?, ?, ?)",
            [
                .integer(step.account.id), .integer(device.id), .blob(session.stored), .integer(place),
                .integer(sends ? 1 : 0),
                .optional(session.isInitiator ? nil : Int64(session.exchange.prekeyID)),
                .integer(device.isStranger ? 1 : 0),
            ])
        let row = database.lastInsertedRow
        try database.run(
            """
            DELETE FROM omemo_session WHERE id IN (
                SELECT id FROM omemo_session WHERE peer = ? AND id <> ? ORDER BY place DESC, id DESC LIMIT -1 OFFSET ?)
                AND (?4 >= 0 OR place < 0)
            """, [.integer(device.id), .integer(row), .integer(Self.maxPerDevice - 1), .integer(place)])
        if device.isStranger { try dropStrangers() }
        return row
    }

    private func dropStrangers() throws {
        try database.run(
            """
            DELETE FROM omemo_session WHERE id IN (SELECT id FROM omemo_session WHERE account = ? AND stranger = 1
                ORDER BY id DESC LIMIT -1 OFFSET ?)
            """, [.integer(step.account.id), .integer(Self.maxOfStrangers)])
    }

    /// Stores the session after it has encrypted or decrypted a message.
    /// - Parameter place: the stamp of the message; nil if it is no newer than others.
    func save(_ session: Session, in row: Int64, place: Int64?) throws {
        try database.run(
            "UPDATE omemo_session SET data = ?, place = max(place, coalesce(?, place)) WHERE id = ?",
            [.blob(session.stored), .optional(place), .integer(row)])
    }

    /// Stops the sessions with former keys: a device that has presented another key receives no messages for the former one.
    func stopSending(to device: PeerDevice, except key: PublicKey) throws {
        for row in try all(of: device) where row.session.theirs.key != key { try stopSending(row.id) }
    }

    func stopSending(_ row: Int64) throws {
        try database.run("UPDATE omemo_session SET sends = 0 WHERE id = ?", [.integer(row)])
    }

    /// Stops all sessions of a device from sending; messages received in them can still be decrypted.
    func stopSending(to device: PeerDevice) throws {
        try database.run("UPDATE omemo_session SET sends = 0 WHERE peer = ?", [.integer(device.id)])
    }

    /// Stops all sessions from sending.
    func stopSendingAll() throws {
        try database.run("UPDATE omemo_session SET sends = 0 WHERE account = ?", [.integer(step.account.id)])
    }

    /// Stops the sessions that were begun with the same prekey of this device: at least one of them is not with the device that has
    /// fetched the prekey.
    func stopSending(begunWith prekey: UInt32) throws {
        try database.run(
            "UPDATE omemo_session SET sends = 0 WHERE account = ? AND prekey = ?",
            [.integer(step.account.id), .integer(Int64(prekey))])
    }

    /// Records that the address of the list no longer counts as a stranger's.
    func clearStranger(_ list: PeerList) throws {
        try database.run("UPDATE omemo_list SET stranger = 0 WHERE id = ?", [.integer(list.id)])
        try database.run(
            "UPDATE omemo_session SET stranger = 0 WHERE peer IN (SELECT id FROM omemo_peer WHERE list = ?)",
            [.integer(list.id)])
    }
}
