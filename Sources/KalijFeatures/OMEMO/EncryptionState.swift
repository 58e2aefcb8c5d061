import KalijAddress
import KalijRatchet
import KalijSteps
import KalijStore

/// What is known of the keys of this device, for people (XEP-0384).
public struct EncryptionState: Sendable, Equatable {
    /// The id of this device.
    public let device: UInt32
    /// The identity key of this device.
    public let fingerprint: Fingerprint
    /// `ready` if others can encrypt for this device; `refused`, `off`, or what the server was asked last.
    public let state: String
    /// Why the keys are not published; nil if they are, or will be.
    public let problem: String?
    /// The encrypted conversations, in the order of their addresses.
    public let conversations: [String]
    /// How many messages of the user's wait for keys; at most 1,000 are counted.
    public let waiting: Int

    /// The state of `account`; nil if no keys were made yet. Reads; never waits for a running process.
    /// - Throws: `StoreError`
    public static func load(of account: Account, from database: Database) throws -> EncryptionState? {
        guard let device = try OwnDevice.load(account.id, from: database) else { return nil }
        let row = try OwnRow.load(account.id, .axolotl, from: database)
        let waiting = try database.statement(
            "SELECT count(*) FROM (SELECT 1 FROM omemo_waiting WHERE account = ? LIMIT 1000)"
        ).first([.integer(account.id)]) { Int($0.integer()) }
        return EncryptionState(
            device: device.id, fingerprint: Fingerprint(try device.identity.publicIdentity.key),
            state: row?.state.stage.rawValue ?? OwnPublishing.Stage.off.rawValue, problem: row?.problem,
            conversations: try Modes(database: database, account: account.id).all(), waiting: waiting ?? 0)
    }
}

extension EncryptionState {
    /// The privacy of a message that is taken over later.
    package static func privacy(
        _ privacy: Privacy, to recipient: JID, of account: Account, in database: Database
    ) throws -> Privacy {
        guard privacy == .asConversation else { return privacy }
        let conversation = try RoomRows(database: database, account: account.id).conversation(with: recipient)
        return try Modes(database: database, account: account.id).isEncrypted(conversation) ? .encrypted : privacy
    }
}

/// A device with its key, for people.
public struct DeviceKey: Sendable, Equatable {
    /// The bare address.
    public let jid: JID
    /// The id of the device; nil for a key without a device, which the user has decided about.
    public let device: UInt32?
    /// The identity key; nil as long as no session was agreed with the device.
    public let fingerprint: Fingerprint?
    /// How far the key is trusted; nil if there is none.
    public let trust: KeyTrust?
    /// Whether the address lists the device.
    public let isListed: Bool
    /// Why the device is left out; nil if it is not.
    public let problem: String?

    /// The keys of `jid`, or of everybody, in the order of the addresses. Reads; never waits for a running process.
    /// - Throws: `StoreError`
    public static func all(of account: Account, for jid: JID? = nil, from database: Database) throws -> [DeviceKey] {
        let trusted = try database.statement(
            "SELECT jid, identity, trust FROM omemo_trust WHERE account = ?1 AND jid = coalesce(?2, jid) ORDER BY jid, identity"
        ).all([.integer(account.id), .optional(jid?.bare.description)]) {
            (jid: $0.text("jid"), key: $0.blob("identity"), trust: KeyTrust(rawValue: $0.text("trust")))
        }
        let devices = try database.statement(
            """
            SELECT l.jid, p.device, p.identity, p.listed, p.problem FROM omemo_list l CROSS JOIN omemo_peer p ON p.list = l.id
            WHERE l.account = ?1 AND l.jid = coalesce(?2, l.jid) AND l.dialect = ?3 ORDER BY l.jid, p.device
            """
        ).all([
            .integer(account.id), .optional(jid?.bare.description), .integer(Int64(Dialect.axolotl.rawValue)),
        ]) { row in
            (
                jid: row.text("jid"), device: UInt32(clamping: row.integer("device")),
                key: row.optionalBlob("identity"),
                isListed: row.bool("listed"), problem: row.optionalText("problem")
            )
        }
        let known = devices.map { device in
            DeviceKey(
                jid: .received(device.jid), device: device.device, fingerprint: device.key.flatMap(fingerprint),
                trust: trusted.first { $0.jid == device.jid && $0.key == device.key }?.trust, isListed: device.isListed,
                problem: device.problem)
        }
        let rest = trusted.filter { key in !devices.contains { $0.jid == key.jid && $0.key == key.key } }
        let others = rest.map { key in
            DeviceKey(
                jid: .received(key.jid), device: nil, fingerprint: fingerprint(key.key), trust: key.trust,
                isListed: false, problem: nil)
        }
        return (known + others).sorted {
            ($0.jid.description, $0.device ?? .max) < ($1.jid.description, $1.device ?? .max)
        }
    }

    private static func fingerprint(_ key: [UInt8]) -> Fingerprint? { (try? PublicKey(key)).map(Fingerprint.init) }
}
