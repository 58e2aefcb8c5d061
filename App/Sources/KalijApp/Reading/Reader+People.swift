import KalijClient

extension Reader {
    /// The people whom the user knows by name, read at most two seconds ago: each page of a room needs them.
    func people(of account: Account) throws -> People {
        if let (people, at) = known[account.id], at.duration(to: .now) < .seconds(2) { return people }
        let names = try Contacts(database()).contacts(of: account).compactMap { contact in
            contact.name.map { (contact.jid.description, $0) }
        }
        let people = People(Dictionary(names) { first, _ in first }, own: account.jid.description)
        known[account.id] = (people, .now)
        return people
    }

    /// The contacts of all accounts, to write to, in the order of their names.
    public func people() throws -> [PersonRow] {
        let accounts = try accounts()
        let contacts = Contacts(try database())
        let rows = try accounts.flatMap { account in
            let rooms = Set(try Rooms(database()).rooms(of: account).map(\.jid))
            let pictures = try contacts.pictures(of: account)
            return try contacts.contacts(of: account).filter { !rooms.contains($0.jid) }.map { contact in
                let address = contact.jid.description
                return PersonRow(
                    key: ConversationKey(account: account.jid.description, jid: address),
                    name: (contact.name ?? address).shownName, picture: pictures[address] ?? nil,
                    showsAccount: accounts.count > 1)
            }
        }
        let order = rows.map { (name: $0.name.lowercased(), jid: $0.key.jid, account: $0.key.account) }
        return rows.indices.sorted { order[$0] < order[$1] }.map { rows[$0] }
    }
}
