import KalijAddress
import KalijClient

/// Somebody to write to: a contact, or an address that was entered.
public struct PersonRow: Sendable, Equatable {
    public let key: ConversationKey
    /// The user's name for the contact, or the address.
    public let name: String
    /// The path of the verified picture; nil without one.
    public let picture: String?
    /// Whether to display the account, because there are several.
    public let showsAccount: Bool
    /// Whether the row is an address that no contact has.
    public let isEntered: Bool
    /// What a search compares, in lower case.
    let searched: String

    public init(
        key: ConversationKey, name: String, picture: String? = nil, showsAccount: Bool = false, isEntered: Bool = false
    ) {
        (self.key, self.name, self.picture) = (key, name, picture)
        (self.showsAccount, self.isEntered) = (showsAccount, isEntered)
        searched = (name + " " + key.jid).lowercased()
    }

    public var title: String { isEntered ? Words.writeTo(name) : name }

    /// The line below the title: the address, and the account if there are several.
    public var line: String {
        let address = key.jid.shownName
        return [name == address ? "" : address, showsAccount ? Words.account(key.account) : ""]
            .filter { !$0.isEmpty }.joined(separator: ", ")
    }

    /// The accessible name.
    public var spoken: String { line.isEmpty ? title : title + ", " + line }
}

/// The contacts of all accounts, of which some match what was entered.
public struct ContactList: Sendable, Equatable {
    /// In the order of their names.
    public var contacts: [PersonRow] = []
    /// A part of a name or an address, or a whole address.
    public var words = ""
    /// The account that writes to an address that no contact has.
    public let account: String

    public init(account: String) { self.account = account }

    /// The contacts that match; before them an address that was entered whole, and that no contact of the account has.
    public var shown: [PersonRow] {
        (entered.map { [$0] } ?? []) + matches
    }

    private var matches: [PersonRow] {
        let parts = words.lowercased().split(separator: " ")
        return parts.isEmpty
            ? contacts : contacts.filter { contact in parts.allSatisfy { contact.searched.contains($0) } }
    }

    private var entered: PersonRow? {
        guard let jid = try? JID(words.filter { !$0.isWhitespace }), jid.local != nil else { return nil }
        let key = ConversationKey(account: account, jid: jid.bare.description)
        guard !contacts.contains(where: { $0.key == key }) else { return nil }
        return PersonRow(key: key, name: key.jid.shownName, isEntered: true)
    }

    /// What is shown, in words.
    public var count: String {
        let matches = matches
        let people = matches.isEmpty ? nil : Words.people(matches.count)
        if let entered { return [entered.title, people].compactMap { $0 }.joined(separator: ", ") }
        return people ?? (contacts.isEmpty && words.isEmpty ? Words.noContacts : Words.nothingFound)
    }
}
