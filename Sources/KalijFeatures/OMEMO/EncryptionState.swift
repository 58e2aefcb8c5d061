import KalijAddress
import KalijRatchet
import KalijCore
import KalijStore

/// The state of this device's keys, for people (XEP-0384).
public struct EncryptionState: Sendable, Equatable {
    /// The id of this device.
    public let device: UInt32
    /// The identity key of this device.
    public let fingerprint: Fingerprint
    /// The name of this device, which others see in OMEMO 2; nil without one.
    public let name: String?
    /// `ready` if others can encrypt for this device; `refused`, `off`, or the pending stage of the publication.
    public let state: String
    /// The reason why the keys are not published; nil if they are, or publication is pending.
    public let problem: String?
    /// The state of the keys for OMEMO 2; nil if 2 is not used.
    public let secondState: String?
    /// The reason why the keys for OMEMO 2 are not published.
    public let secondProblem: String?
    /// The encrypted conversations, in the order of their addresses.
    public let conversations: [String]
    /// The number of the user's messages that wait for keys; at most 1,000 are counted.
    public let waiting: Int

    /// The state of `account`; nil if no keys were created yet. Only reads; never waits for a running process.
    /// - Throws: `StoreError`
    public static func load(of account: Account, from database: Database) throws -> EncryptionState? {
        guard let device = try OwnDevice.load(account.id, from: database) else { return nil }
        let row = try KeyPublicationRow.load(account.id, .axolotl, from: database)
        let isSecond = try EnabledVersions(database: database, account: account.id).usesOMEMO2
        let second = try isSecond ? KeyPublicationRow.load(account.id, .omemo2, from: database) : nil
        let off = KeyPublicationState.Stage.off.rawValue
        let waiting = try database.statement(
            "SELECT count(*) FROM (SELECT 1 FROM omemo_waiting WHERE account = ? LIMIT 1000)"
        ).first([.integer(account.id)]) { Int($0.integer()) }
        return EncryptionState(
            device: device.id, fingerprint: Fingerprint(try device.identity.publicIdentity.key),
            name: try OwnName(database: database, account: account.id).load(),
            state: row?.state.stage.rawValue ?? off, problem: row?.problem,
            secondState: isSecond ? second?.state.stage.rawValue ?? off : nil, secondProblem: second?.problem,
            conversations: try ConversationEncryption(database: database, account: account.id).all(),
            waiting: waiting ?? 0)
    }
}

extension EncryptionState {
    /// Resolves the privacy of a message that is accepted later: encrypted, if the conversation is encrypted at present.
    package static func privacy(
        _ privacy: EncryptionPreference, to recipient: JID, of account: Account, in database: Database
    ) throws -> EncryptionPreference {
        guard privacy == .asConversation else { return privacy }
        let conversation = try RoomRows(database: database, account: account.id).conversation(with: recipient)
        return try ConversationEncryption(database: database, account: account.id).isEncrypted(conversation)
            ? .encrypted : privacy
    }
}

/// A device with its key, for people.
public struct DeviceKey: Sendable, Equatable {
    /// The bare address.
    public let jid: JID
    /// The id of the device; nil for a key without a device on which the user has decided.
    public let device: UInt32?
    /// The identity key; nil as long as no session was agreed with the device.
    public let fingerprint: Fingerprint?
    /// The trust in the key; nil if there is none.
    public let trust: KeyTrust?
    /// Whether the address lists the device.
    public let isListed: Bool
    /// The versions of OMEMO in which the address lists the device: `0.3`, `2`.
    public let versions: [String]
    /// The reason why the device is excluded; nil if it is not.
    public let problem: String?
    /// The time of the newest message of the device that was decrypted, exact to a minute, in milliseconds since 1970; nil without one.
    public let lastMessageAt: Int64?
    /// When the key was first presented, or the user decided on it, in milliseconds since 1970; nil without a trust.
    public let firstSeenAt: Int64?
    /// The name that the owner of the key has given the device, in OMEMO 2; nil without one. Anybody can call a device anything: it has no
    /// control characters, and at most 53 scalars.
    public let name: String?

    /// Creates the value, for the tests of an application.
    public init(
        jid: JID, device: UInt32?, fingerprint: Fingerprint?, trust: KeyTrust?, isListed: Bool = true,
        versions: [String] = [], problem: String? = nil, lastMessageAt: Int64? = nil, firstSeenAt: Int64? = nil,
        name: String? = nil
    ) {
        (self.jid, self.device, self.fingerprint, self.trust) = (jid, device, fingerprint, trust)
        (self.isListed, self.versions, self.problem) = (isListed, versions, problem)
        (self.lastMessageAt, self.firstSeenAt, self.name) = (lastMessageAt, firstSeenAt, name)
    }

    /// The keys of `jid`, or of everybody, in the order of the addresses. Only reads; never waits for a running process.
    /// - Throws: `StoreError`
    public static func all(of account: Account, for jid: JID? = nil, from database: Database) throws -> [DeviceKey] {
        let trusted = try trusted(of: account, for: jid, from: database)
        let devices = try devices(of: account, for: jid, from: database)
        let known = try devices.map { device in
            let key = trusted.first { $0.jid == device.jid && $0.key == device.key }
            return DeviceKey(
                jid: .received(device.jid), device: device.device, fingerprint: device.key.flatMap(fingerprint),
                trust: key?.trust, isListed: device.isListed,
                versions: device.formats.map(\.version), problem: device.problem,
                lastMessageAt: device.readAt > 0 ? device.readAt : nil, firstSeenAt: key?.firstAt,
                name: try device.name)
        }
        let rest = trusted.filter { key in !devices.contains { $0.jid == key.jid && $0.key == key.key } }
        let others = rest.map { key in
            DeviceKey(
                jid: .received(key.jid), device: nil, fingerprint: fingerprint(key.key), trust: key.trust,
                isListed: false, versions: [], problem: nil, lastMessageAt: nil, firstSeenAt: key.firstAt)
        }
        return (known + others).sorted {
            ($0.jid.description, $0.device ?? .max) < ($1.jid.description, $1.device ?? .max)
        }
    }

    private struct Trusted {
        let jid: String
        let key: [UInt8]
        let trust: KeyTrust?
        let firstAt: Int64

        init(_ row: Row) {
            (jid, key, firstAt) = (row.text("jid"), row.blob("identity"), row.integer("first_at"))
            trust = KeyTrust(rawValue: row.text("trust"))
        }
    }

    /// A device in all versions that list it.
    private struct Known {
        let jid: String
        let device: UInt32
        var key: [UInt8]?
        var isListed: Bool
        var problem: String?
        var formats: [OMEMOVersion]
        var readAt: Int64
        var label: DeviceList.Label?

        /// The name that the owner of the key has signed.
        var name: String? {
            get throws { try key.flatMap { try? PublicKey($0) }.flatMap { try label?.name(by: $0) } }
        }

        init(_ row: Row) {
            (jid, device) = (row.text("jid"), UInt32(clamping: row.integer("device")))
            (key, isListed) = (row.optionalBlob("identity"), row.bool("listed"))
            (problem, readAt) = (row.optionalText("problem"), row.integer("read_at"))
            let version = OMEMOVersion(rawValue: Int(row.integer("dialect")))
            formats = isListed ? [version].compactMap { $0 } : []
            label = row.optionalText("label").map { DeviceList.Label(text: $0, signature: row.text("signature")) }
        }

        func isSame(_ other: Known) -> Bool {
            jid == other.jid && device == other.device && (key == other.key || key == nil || other.key == nil)
        }
    }

    // Keys that only rooms had shown, which a former version has recorded, are omitted.
    private static func trusted(of account: Account, for jid: JID?, from database: Database) throws -> [Trusted] {
        guard let jid else {
            return try database.statement(
                """
                SELECT jid, identity, trust, first_at FROM omemo_trust WHERE account = ? AND unproven = 0
                ORDER BY jid, identity
                """
            ).all([.integer(account.id)], Trusted.init)
        }
        return try database.statement(
            """
            SELECT jid, identity, trust, first_at FROM omemo_trust WHERE account = ? AND jid = ? AND unproven = 0
            ORDER BY identity
            """
        ).all([.integer(account.id), .text(jid.bare.description)], Trusted.init)
    }

    private static func known(of account: Account, for jid: JID?, from database: Database) throws -> [Known] {
        guard let jid else {
            return try database.statement(
                """
                SELECT l.jid, l.dialect, p.device, p.identity, p.listed, p.problem, p.read_at, b.label, b.signature
                FROM omemo_list l CROSS JOIN omemo_peer p ON p.list = l.id
                LEFT JOIN omemo_label b ON b.peer = p.id
                WHERE l.account = ? ORDER BY l.jid, p.device, l.dialect DESC
                """
            ).all([.integer(account.id)], Known.init)
        }
        return try database.statement(
            """
            SELECT l.jid, l.dialect, p.device, p.identity, p.listed, p.problem, p.read_at, b.label, b.signature
            FROM omemo_list l CROSS JOIN omemo_peer p ON p.list = l.id
            LEFT JOIN omemo_label b ON b.peer = p.id
            WHERE l.account = ? AND l.jid = ? ORDER BY p.device, l.dialect DESC
            """
        ).all([.integer(account.id), .text(jid.bare.description)], Known.init)
    }

    private static func devices(of account: Account, for jid: JID?, from database: Database) throws -> [Known] {
        let rows = try known(of: account, for: jid, from: database)
        return rows.reduce(into: []) { devices, row in
            guard let last = devices.last, last.isSame(row) else { return devices.append(row) }
            var merged = last
            merged.key = last.key ?? row.key
            merged.isListed = last.isListed || row.isListed
            merged.problem = last.problem == nil || row.problem == nil ? nil : last.problem
            merged.formats += row.formats
            merged.readAt = max(last.readAt, row.readAt)
            merged.label = last.label ?? row.label
            devices[devices.count - 1] = merged
        }
    }

    private static func fingerprint(_ key: [UInt8]) -> Fingerprint? { (try? PublicKey(key)).map(Fingerprint.init) }
}
