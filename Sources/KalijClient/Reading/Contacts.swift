import KalijAddress
import KalijCore
import KalijFeatures
import KalijStore

/// Reads contacts, their names and pictures, requests and blocked addresses; never waits for a running process.
///
/// ```swift
/// for contact in try Contacts(directory).contacts(of: account) { print(contact.jid, contact.subscription) }
/// ```
public struct Contacts {
    private let database: Database

    /// Reads the contacts in `database`.
    public init(_ database: Database) { self.database = database }

    /// Reads the contacts in `directory` now.
    /// - Throws: `DirectoryError.noAccount`, `StoreError`
    public init(_ directory: AccountDirectory) throws { database = try directory.read() }

    /// The roster as last received from the server (RFC 6121 section 2), ordered by address.
    /// - Throws: `StoreError`
    public func contacts(of account: Account) throws -> [Contact] {
        try RosterRows(database: database, account: account.id).all()
    }

    /// The available resources of a contact in the current session, highest priority first (section 4). Empty for a contact whose
    /// presence the account does not receive.
    /// - Throws: `StoreError`
    public func presence(of contact: JID, for account: Account) throws -> [ContactPresence] {
        // After a logout there is no session.
        guard try SessionRow.load(account.id, from: database).jid != nil else { return [] }
        return try PresenceRows(database: database, account: account.id).clients(of: contact)
    }

    /// The profile that a contact, a stranger or the account itself has published: name, picture and vCard, as far as received.
    /// - Parameters:
    ///   - jid: the bare address; the full address for an occupant of a room.
    ///   - account: the account.
    /// - Returns: nil if no profile was received. ``FetchProfile`` queries it.
    /// - Throws: `StoreError`
    public func profile(of jid: JID, for account: Account) throws -> Profile? {
        try ProfileRows(database: database, account: account.id).load(jid)
    }

    /// Everybody who has announced a picture, by the address of the profile: with the path of the picture, nil if it was not fetched
    /// yet (``FetchProfile``).
    /// - Throws: `StoreError`
    public func pictures(of account: Account) throws -> [String: String?] {
        try ProfileRows(database: database, account: account.id).pictures()
    }

    /// The pending inbound subscription requests, oldest first (section 3.1.3).
    /// - Throws: `StoreError`
    public func requests(of account: Account) throws -> [ContactRequest] {
        try RequestRows(database: database, account: account.id).all()
    }

    /// The blocked addresses as last received from the server (XEP-0191), sorted.
    /// - Throws: `StoreError`
    public func blocked(of account: Account) throws -> [JID] {
        try BlockedRows(database: database, account: account.id).all()
    }
}
