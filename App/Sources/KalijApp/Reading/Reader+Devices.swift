import KalijAddress
import KalijClient

extension Reader {
    /// The devices of an address, which may be that of the account itself; nil without the account.
    public func devices(_ key: ConversationKey) throws -> DevicesPage? {
        guard let account = try account(of: key) else { return nil }
        let (database, jid) = (try database(), JID.received(key.jid))
        let isOwn = jid == account.jid
        let own = try EncryptionState.load(of: account, from: database)
        let keys = try DeviceKey.all(of: account, for: jid, from: database).map { DeviceRow($0, isOwn: isOwn) }
        let this = own.map {
            DeviceRow(device: $0.device, fingerprint: $0.fingerprint, state: .this, isOwn: true, name: $0.name)
        }
        let others = keys.filter(\.isListed) + keys.filter { !$0.isListed }
        let name = try isOwn ? nil : conversations(account).name(of: jid)
        return DevicesPage(
            key: key, name: (name ?? key.jid).shownName, rows: (isOwn ? [this].compactMap { $0 } : []) + others,
            code: own.map { OMEMOURI.text(of: account.jid, [($0.device, $0.fingerprint)]) },
            fingerprint: own?.fingerprint)
    }

    /// What the user has to decide before something is sent; nil if nothing.
    public func keyQuestion(_ key: ConversationKey) throws -> KeyQuestion? {
        guard let account = try account(of: key) else { return nil }
        let keys = try ConversationKeys.load(of: account, with: .received(key.jid), from: database())
        let conversations = try conversations(account)
        let undecided = try UndecidedKeys(keys.undecided, of: key.account) {
            (try conversations.name(of: $0) ?? $0.description).shownName
        }
        if let undecided { return .undecided(undecided) }
        guard keys.isKeyless, let row = try conversation(key) else { return nil }
        return .keyless(row.isGroup ? Words.keylessGroupQuestion : Words.keylessQuestion(row.name))
    }

    /// Who can read what is written in a conversation; nil if it is not encrypted.
    public func encryptionOutcome(_ key: ConversationKey) throws -> EncryptionOutcome? {
        guard let account = try account(of: key), let row = try conversation(key) else { return nil }
        let keys = try ConversationKeys.load(of: account, with: .received(key.jid), from: database())
        guard keys.isEncrypted else { return nil }
        let conversations = try conversations(account)
        return try EncryptionOutcome(keys, isGroup: row.isGroup, name: row.name) {
            (try conversations.name(of: $0) ?? $0.description).shownName
        }
    }
}
