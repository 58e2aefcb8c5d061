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
}
