import KalijAddress
import KalijCore
import KalijStore

/// The encryption of a conversation, for people: whether messages are encrypted, and the keys of those who receive them.
public struct ConversationKeys: Sendable, Equatable {
    /// Whether the user's messages are encrypted.
    public let isEncrypted: Bool
    /// Whether the other side has opted out (XEP-0384 section 5.7): messages wait until the user decides.
    public let isBlocked: Bool
    /// The keys of the recipients, then those of the account's other devices; empty if the conversation is not encrypted.
    public let keys: [DeviceKey]
    /// The recipients who have no keys, as their servers have said in this session: they receive nothing.
    public let keyless: [JID]
    /// Whether no recipient has keys: a message fails.
    public let isKeyless: Bool
    /// The recipients of whom no key is in use, and whose servers have not said in this session that they have none.
    public let pending: [JID]

    /// Creates the value, for the tests of an application.
    /// - Parameters:
    ///   - isEncrypted: whether the user's messages are encrypted.
    ///   - isBlocked: whether the other side has opted out.
    ///   - keys: the keys of the recipients, then those of the account's other devices.
    ///   - keyless: the recipients who have no keys.
    ///   - isKeyless: whether no recipient has keys.
    ///   - pending: the recipients whose keys are not known yet.
    public init(
        isEncrypted: Bool, isBlocked: Bool, keys: [DeviceKey], keyless: [JID] = [], isKeyless: Bool = false,
        pending: [JID] = []
    ) {
        (self.isEncrypted, self.isBlocked, self.keys) = (isEncrypted, isBlocked, keys)
        (self.keyless, self.isKeyless, self.pending) = (keyless, isKeyless, pending)
    }

    /// The keys of devices in use that receive nothing until the user decides.
    public var undecided: [DeviceKey] { keys.filter { $0.isListed && $0.trust == .undecided } }

    /// The encryption of the conversation of `account` with `jid`, a person or a room. Only reads; never waits for a running process.
    /// - Throws: `StoreError`
    public static func load(of account: Account, with jid: JID, from database: Database) throws -> ConversationKeys {
        let encryption = ConversationEncryption(database: database, account: account.id)
        let rooms = RoomRows(database: database, account: account.id)
        let name = try rooms.conversation(with: jid)
        guard try encryption.isEncrypted(name) else {
            return ConversationKeys(isEncrypted: false, isBlocked: false, keys: [])
        }
        let room = try rooms.room(.received(name))
        let all = try room.map { try Members.all(of: $0, in: database).map(\.jid) } ?? [.received(name)]
        let people = all.filter { $0 != account.jid }
        let keys = try people.flatMap { try DeviceKey.all(of: account, for: $0, from: database) }
        let reached = Set(keys.filter(\.isListed).map(\.jid))
        let keyless = try people.filter {
            try !reached.contains($0) && DeviceLists.isKeyless($0, account, in: database)
        }
        return ConversationKeys(
            isEncrypted: true, isBlocked: try encryption.isBlocked(name),
            keys: keys + (try DeviceKey.all(of: account, for: account.jid, from: database)),
            keyless: keyless, isKeyless: !people.isEmpty && keyless.count == people.count,
            pending: people.filter { !reached.contains($0) && !keyless.contains($0) })
    }
}
