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

    /// The keys on which the user has to decide before something is sent; nil if there are none.
    public func undecided(_ key: ConversationKey) throws -> UndecidedKeys? {
        guard let account = try account(of: key) else { return nil }
        let keys = try ConversationKeys.load(of: account, with: .received(key.jid), from: database())
        let conversations = try conversations(account)
        return try UndecidedKeys(keys.undecided, of: key.account) {
            (try conversations.name(of: $0) ?? $0.description).shownName
        }
    }

    /// The words for a conversation in which nobody can read an encrypted message; nil if it is not encrypted, or somebody has keys.
    public func keyless(_ key: ConversationKey) throws -> String? {
        guard let account = try account(of: key), let row = try conversation(key),
            try ConversationKeys.load(of: account, with: .received(key.jid), from: database()).isKeyless
        else { return nil }
        return Words.keylessQuestion(row.isGroup ? Words.nobody : row.name)
    }
}
