import KalijAddress
import KalijClient

/// The people whom the user knows by name: in a room, nobody else appears under their names.
struct People: Sendable {
    private var names: [String: String] = [:]
    /// Who has a name, by the name's skeleton.
    private var owners: [String: Set<String>] = [:]

    /// - Parameters:
    ///   - names: the user's names for contacts, by their bare addresses.
    ///   - own: the bare address of the account.
    init(_ names: [String: String], own: String) {
        self.names = names.mapValues(\.shownName)
        for (address, name) in self.names { owners[name.skeleton, default: []].insert(address) }
        let local = own.prefix { $0 != "@" }
        for name in [Words.you, own, String(local)] { owners[name.skeleton, default: []].insert(own) }
    }

    /// The name of an author in a room, as rows display it.
    /// - Parameters:
    ///   - nick: the nickname, which the author has chosen.
    ///   - address: the bare address that the room has shown; nil if it shows none.
    func author(_ nick: String, _ address: String?) -> String {
        if let name = address.flatMap({ names[$0] }) { return name.shownAuthor }
        let (key, name) = (nick.shownName.skeleton, nick.shownName.shownAuthor)
        // A comma ends the name in a row.
        let quoted = name.hasPrefix("“") ? name : "“" + name + "”"
        guard let owners = owners[key] else { return name.contains(",") ? quoted : name }
        guard let address else { return quoted }
        return owners.contains(address) ? name : quoted + " (" + address.shownName + ")"
    }
}
