import KalijAddress
import KalijRatchet
import KalijCore
import KalijStore

/// The trust in keys. Until the user has verified a key of an address, all keys of the address are trusted blindly.
struct TrustStore {
    let step: Step
    private var account: Value { .integer(step.account.id) }

    /// The maximum number of stored keys of an address.
    private static let maxKeys: Int64 = 256

    /// The trust in `key` of `jid`; nil for a key that is not stored.
    func trust(in key: [UInt8], of jid: JID) throws -> KeyTrust? {
        try step.database.statement(
            "SELECT trust FROM omemo_trust WHERE account = ? AND jid = ? AND identity = ? AND unproven = 0"
        ).first([account, .text(jid.bare.description), .blob(key)]) { KeyTrust(rawValue: $0.text("trust")) } ?? nil
    }

    /// Handles an agreement with `key`, which the address itself has presented: in a bundle or in its own message, and not in a message
    /// whose sender only a room identifies.
    /// - Returns: the trust in the key.
    @discardableResult
    func met(_ key: PublicKey, of device: PeerDevice) throws -> KeyTrust {
        if let known = device.identity, known != key.bytes {
            step.emit(OMEMOKeyChanged(device, Fingerprint(key)))
            try RatchetSessions(step: step).stopSending(to: device, except: key)
        }
        if device.identity != key.bytes { try PeerDevices(step: step).set(identity: key, of: device) }
        if let trust = try trust(in: key.bytes, of: device.jid) { return trust }
        let trust = try first(key, of: device.jid)
        try step.database.run(
            """
            INSERT OR REPLACE INTO omemo_trust(account, jid, identity, trust, unproven, first_at) VALUES (?, ?, ?, ?, 0, ?)
            """,
            [account, .text(device.jid.description), .blob(key.bytes), .state(trust), .integer(step.now)])
        try forget(of: device.jid)
        emit(trust, key, device)
        return trust
    }

    /// Deletes excess keys of an address that no device has, the oldest first. Keys on which the user has decided are kept.
    private func forget(of jid: JID) throws {
        let address: [Value] = [account, .text(jid.bare.description)]
        let count = try step.database.statement("SELECT count(*) FROM omemo_trust WHERE account = ? AND jid = ?")
            .first(address) { $0.integer() }
        guard let count, count > Self.maxKeys else { return }
        try step.database.run(
            """
            DELETE FROM omemo_trust WHERE account = ?1 AND jid = ?2 AND identity IN (
                SELECT identity FROM omemo_trust WHERE account = ?1 AND jid = ?2 AND trust IN ('blind', 'undecided')
                    AND identity NOT IN (SELECT identity FROM omemo_list l CROSS JOIN omemo_peer p ON p.list = l.id
                        WHERE l.account = ?1 AND l.jid = ?2 AND p.identity IS NOT NULL)
                ORDER BY first_at LIMIT ?3)
            """, address + [.integer(count - Self.maxKeys)])
    }

    private func emit(_ trust: KeyTrust, _ key: PublicKey, _ device: PeerDevice) {
        let isOwn = device.jid == step.account.jid
        step.emit(OMEMONewKey(device, Fingerprint(key), trust, isOwn: isOwn))
        if trust == .undecided { step.emit(OMEMOUndecided(device, Fingerprint(key))) }
    }

    /// The trust in a new key. A key that another address has is considered a copy of a bundle.
    private func first(_ key: PublicKey, of jid: JID) throws -> KeyTrust {
        let isElsewhere = try step.database.statement(
            """
            SELECT 1 FROM omemo_trust INDEXED BY omemo_trust_identity
            WHERE account = ? AND identity = ? AND jid <> ? AND unproven = 0 LIMIT 1
            """
        ).first([account, .blob(key.bytes), .text(jid.bare.description)]) { _ in true }
        if isElsewhere ?? false { return .undecided }
        let isVerified = try step.database.statement(
            "SELECT 1 FROM omemo_trust WHERE account = ? AND jid = ? AND trust = ? LIMIT 1"
        ).first([account, .text(jid.bare.description), .state(KeyTrust.verified)]) { _ in true }
        return isVerified ?? false ? .undecided : .blind
    }

    /// Records a decision of the user.
    func set(_ trust: KeyTrust, _ key: [UInt8], of jid: JID) throws {
        try step.database.run(
            """
            INSERT INTO omemo_trust(account, jid, identity, trust, unproven, first_at) VALUES (?1, ?2, ?3, ?4, 0, ?5)
            ON CONFLICT (account, jid, identity) DO UPDATE SET trust = excluded.trust, unproven = 0
            """,
            [account, .text(jid.bare.description), .blob(key), .state(trust), .integer(step.now)])
        try EncryptionQueue(step: step).retryAll()
    }
}
