import KalijAddress
import KalijCore
import KalijStore

/// Reads rooms and their occupants; never waits for a running process.
///
/// ```swift
/// for room in try Rooms(directory).rooms(of: account) { print(room.jid, room.state) }
/// ```
public struct Rooms {
    private let database: Database

    /// Reads the rooms in `database`.
    public init(_ database: Database) { self.database = database }

    /// Reads the rooms in `directory` now.
    /// - Throws: `DirectoryError.noAccount`, `StoreError`
    public init(_ directory: AccountDirectory) throws { database = try directory.read() }

    /// All rooms that the account has been in, or intends to be in, ordered by address.
    /// - Throws: `StoreError`
    public func rooms(of account: Account) throws -> [Room] {
        try RoomRows(database: database, account: account.id).all().map(Room.init)
    }

    /// The room with the bare address `jid`; nil if there is none.
    /// - Throws: `StoreError`
    public func room(_ jid: JID, of account: Account) throws -> Room? {
        try RoomRows(database: database, account: account.id).room(jid).map(Room.init)
    }

    /// The occupants of the room `jid`, ordered by nickname (XEP-0045 section 7.2.2). Empty while the account is not in the room.
    /// - Throws: `StoreError`
    public func occupants(of jid: JID, for account: Account) throws -> [Occupant] {
        guard let room = try RoomRows(database: database, account: account.id).room(jid), room.stay.state.isIn else {
            return []
        }
        return try Occupants.all(of: room, in: database)
    }

    /// The members of the group `jid`, present or not, ordered by address. Empty for a room that is not a group.
    /// - Throws: `StoreError`
    public func members(of jid: JID, for account: Account) throws -> [RoomMember] {
        guard let room = try RoomRows(database: database, account: account.id).room(jid) else { return [] }
        return try Members.all(of: room, in: database)
    }

    /// The number of the members of the group `jid`, present or not; of another room, of the present occupants.
    /// - Throws: `StoreError`
    public func peopleCount(in jid: JID, for account: Account) throws -> Int {
        guard let room = try RoomRows(database: database, account: account.id).room(jid) else { return 0 }
        return try room.info.isGroup ? Members.count(of: room, in: database) : occupants(of: jid, for: account).count
    }

    /// The groups in creation, and those whose creation has failed, oldest first.
    /// - Throws: `StoreError`
    public func creations(of account: Account) throws -> [GroupCreation] {
        try RoomPlanRows(database: database, account: account.id).all().map { GroupCreation($0) }
    }

    /// The room that the intent `id` (``CreateRoom``, ``RetryGroup``) has created; nil if there is none, or not yet.
    /// - Throws: `StoreError`
    public func room(createdBy id: String, for account: Account) throws -> JID? {
        try RoomRows(database: database, account: account.id).room(createdBy: id)
    }

    /// What the account may do in the room `jid`; nil while it is not in the room.
    /// - Throws: `StoreError`
    public func rights(in jid: JID, for account: Account) throws -> RoomRights? {
        guard let room = try RoomRows(database: database, account: account.id).room(jid), room.stay.state.isIn,
            let own = try Occupants.own(in: room, in: database)
        else { return nil }
        return RoomRights(of: own, in: room.info)
    }

    /// The pending invitations, oldest first (XEP-0249).
    /// - Throws: `StoreError`
    public func invitations(of account: Account) throws -> [Invitation] {
        try InvitationRows(database: database, account: account.id).all().map(\.invitation)
    }
}
