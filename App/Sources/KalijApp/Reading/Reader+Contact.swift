import KalijAddress
import KalijClient

extension Reader {
    /// The contact of a conversation; nil for a room, and without the account.
    public func contact(_ key: ConversationKey) throws -> ContactPage? {
        let jid = JID.received(key.jid)
        guard jid.resource == nil, let account = try account(of: key), let row = try conversation(key), !row.isGroup
        else { return nil }
        let contacts = Contacts(try database())
        let entry = try contacts.contacts(of: account).first { $0.jid == jid }
        let isBlocked = try contacts.blocked(of: account).contains(jid)
        var facts = [key.jid.shownName]
        if isBlocked { facts.append(Words.isBlocked) }
        facts.append(Words.subscription(entry))
        let keys = try ConversationKeys.load(of: account, with: jid, from: database())
        facts.append(Words.encryption(try encryptionOutcome(key)))
        if keys.isBlocked { facts.append(Words.encryptionRefused) }
        if let client = try contacts.presence(of: jid, for: account).first {
            facts.append(
                [Words.presence(client.show), client.status?.shownLine ?? ""].filter { !$0.isEmpty }
                    .joined(separator: ": "))
        }
        return ContactPage(
            key: key, name: row.name, givenName: entry?.name?.shownName ?? "", picture: row.picture, facts: facts,
            actions: ContactAction.all(
                isContact: entry != nil, isBlocked: isBlocked,
                ContactAction.encryption(isOn: keys.isEncrypted, isWaiting: keys.isBlocked)),
            notifications: row.notifications, isContact: entry != nil)
    }
}
