import KalijAddress
import KalijClient

/// Somebody who can be invited: a contact, or an address.
public struct GroupGuest: Sendable, Equatable {
    /// The bare address.
    public let jid: String
    public let name: String

    public init(jid: String, name: String) { (self.jid, self.name) = (jid, name) }

    /// The accessible name.
    public var spoken: String { name == jid ? jid : name + ", " + jid }
}

/// The user's input for a new group, or for an invitation to an existing one.
public struct GroupForm: Sendable, Equatable {
    public var name = ""
    public private(set) var guests: [GroupGuest] = []
    /// The content of the picture's file; nil for none.
    public private(set) var picture: [UInt8]?
    /// The contacts to choose from.
    public var contacts: [GroupGuest] = []
    /// The name or the address of the next guest.
    public var words = ""
    /// Whether the group has to have a name, because it is new.
    public let isNew: Bool

    /// The maximum number of contacts that are suggested.
    static let mostSuggestions = 5
    /// The maximum number of people of one intent.
    static let mostGuests = 100

    public init(isNew: Bool = true) { self.isNew = isNew }

    /// A problem with the input, described for the user.
    public struct Problem: Error, Equatable {
        public let words: String
    }

    /// The contacts that match the words, in the order of their names, without those chosen already.
    public var suggestions: [GroupGuest] {
        let parts = words.lowercased().split(separator: " ")
        guard !parts.isEmpty else { return [] }
        let chosen = Set(guests.map(\.jid))
        return Array(
            contacts.lazy.filter { contact in
                let text = (contact.name + " " + contact.jid).lowercased()
                return !chosen.contains(contact.jid) && parts.allSatisfy { text.contains($0) }
            }.prefix(Self.mostSuggestions))
    }

    /// Adds the guest that the words mean: the written address, else the only contact that matches.
    public mutating func addWritten() throws(Problem) {
        let found = suggestions
        if let jid = try? JID(words.filter { !$0.isWhitespace }), jid.local != nil {
            let address = jid.bare.description
            try add(contacts.first { $0.jid == address } ?? GroupGuest(jid: address, name: address.shownName))
        } else if found.count == 1 {
            try add(found[0])
        } else {
            throw Problem(words: found.isEmpty ? Words.nobodyFound : Words.severalFound(found.count))
        }
    }

    public mutating func add(_ guest: GroupGuest) throws(Problem) {
        guard guests.count < Self.mostGuests else { throw Problem(words: Words.tooManyGuests(Self.mostGuests)) }
        if !guests.contains(where: { $0.jid == guest.jid }) { guests.append(guest) }
        words = ""
    }

    public mutating func remove(_ guest: GroupGuest) { guests.removeAll { $0.jid == guest.jid } }

    /// - Throws: a problem for a file that the group cannot have as its picture.
    public mutating func choose(_ picture: [UInt8]) throws(Problem) {
        do { try CreateRoom(title: "-", avatar: picture).check() } catch { throw Problem(words: Words.notAPicture) }
        self.picture = picture
    }

    public mutating func removePicture() { picture = nil }

    /// Whether the form can be submitted.
    public var isComplete: Bool {
        isNew ? name.contains { !$0.isWhitespace } : !guests.isEmpty || words.contains { !$0.isWhitespace }
    }

    /// The addresses of the guests; a name or an address that was not confirmed counts.
    public mutating func submit() throws(Problem) -> [JID] {
        if words.contains(where: { !$0.isWhitespace }) { try addWritten() }
        guard !isNew || isComplete else { throw Problem(words: Words.noGroupName) }
        return guests.map { .received($0.jid) }
    }
}
