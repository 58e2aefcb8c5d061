import KalijAddress
import KalijRatchet
import KalijCore
import KalijStore
import KalijXML

/// Empty messages, which advance the ratchets (XEP-0384 section 5.3 of 2). They are recorded as rows, and sent after the archive was
/// read, to people whom the user has written to or subscribed to.
struct EmptyMessages {
    let step: Step
    private var account: Value { .integer(step.account.id) }

    /// After this number of messages in a chain the other side receives a new ratchet key.
    private static let maxChainLength: UInt32 = 53
    private static let batchSize: Int64 = 20

    /// Whether an empty message is due after a message in `session` was decrypted: the other side sends the key exchange until it
    /// receives a response. An empty message requires no response, and one response in a chain is sufficient.
    static func areDue(in session: Session, _ hasText: Bool) -> Bool {
        guard hasText, session.sent == 0 else { return false }
        return !session.isInitiator && !session.hasSent || session.received > maxChainLength
    }

    /// Records that an empty message to `device` is due, unless its owner may not receive automatic messages.
    func enqueue(to device: PeerDevice) throws {
        guard try mayWrite(to: device.jid) else { return }
        try step.database.run(
            "INSERT OR IGNORE INTO omemo_owed(peer, account, heals) VALUES (?, ?, 0)", [.integer(device.id), account])
    }

    /// Whether empty messages or repairs of sessions are outstanding.
    static func isAny(of account: Account, in database: Database) throws -> Bool {
        try database.statement("SELECT 1 FROM omemo_owed WHERE account = ? LIMIT 1")
            .first([.integer(account.id)]) { _ in true } ?? false
    }

    /// Sends the outstanding empty messages: one message for all devices of an address.
    func send(_ own: OwnDevice) throws {
        let ids = try step.database.statement(
            "SELECT peer FROM omemo_owed WHERE account = ? AND heals = 0 ORDER BY peer LIMIT ?"
        ).all([account, .integer(Self.batchSize)]) { $0.integer() }
        guard !ids.isEmpty else { return }
        let devices = try ids.compactMap { try PeerDevices(step: step).device($0) }
        for id in ids {
            try step.database.run("DELETE FROM omemo_owed WHERE peer = ?", [.integer(id)])
        }
        for (_, group) in Dictionary(grouping: devices, by: \.list).sorted(by: { $0.key < $1.key }) {
            try send(to: group, own)
        }
    }

    private func send(to devices: [PeerDevice], _ own: OwnDevice) throws {
        guard let first = devices.first, try mayWrite(to: first.jid) else { return }
        var targets: [Recipients.Target] = []
        for device in devices {
            guard let identity = device.identity, let row = try RatchetSessions(step: step).sending(device),
                row.session.sent == 0 || !row.session.isAnswered,
                let trust = try TrustStore(step: step).trust(in: identity, of: device.jid), trust.isUsed
            else { continue }
            targets.append(Recipients.Target(device: device, trust: trust, row: row))
        }
        guard !targets.isEmpty else { return }
        let payload = try Payload(emptyIn: first.dialect)
        let keys = try MessageEncryptor(step: step, own: own).seal(payload, for: &targets)
        for target in targets {
            try RatchetSessions(step: step).save(target.row.session, in: target.row.id, place: nil)
        }
        try OutgoingStanza(
            hidden: [EncryptedElement.element(payload, from: own.id, keys, first.dialect)], to: first.jid,
            id: OutgoingID(nil).text, isRepeatable: false
        ).enqueue(in: step, sentAt: step.now)
    }

    /// Automatic messages are not sent to strangers.
    private func mayWrite(to jid: JID) throws -> Bool {
        if jid == step.account.jid { return true }
        if try Blocklist(step: step).isBlocked(jid) { return false }
        if try MessageReader(database: step.database, account: step.account.id).hasWritten(to: jid.description) {
            return true
        }
        let contact = try RosterRows(database: step.database, account: step.account.id).contact(jid)
        return contact.map { $0.subscription != .none } ?? false
    }
}
