import KalijAddress
import KalijFeatures
import KalijStore
import KalijText

extension Conversations {
    /// A conversation without its content: a list of thousands displays few.
    public struct Head: Sendable, Equatable {
        /// The bare address of the peer; the full address for an occupant of a room.
        public let jid: String
        /// The display name of the peer: its name in the roster, the room's name, or the name in its profile (``Profile/name``).
        /// Nil without a name.
        public let name: String?
        /// Whether the peer is a room.
        public let isRoom: Bool
        /// The time of the last activity, in milliseconds since 1970; for a room without messages the time when the account
        /// first entered it, 0 if it never has.
        public let activeAt: Int64
        /// Whether the conversation is pinned, and whether it is hidden.
        public let placement: ListPlacement
    }

    /// All conversations, pinned ones first, most recently active first: those with a message or a draft, and the rooms that the
    /// account intends to be in.
    /// - Parameter includingHidden: whether the hidden ones are among them.
    /// - Throws: `StoreError`
    public func heads(includingHidden: Bool = false) throws -> [Head] {
        try database.reading { try readHeads(includingHidden: includingHidden) }
    }

    func readHeads(includingHidden: Bool) throws -> [Head] {
        let names = try ConversationNames(of: account.id, in: database)
        var activity = Dictionary(
            try messages.activity().map { ($0.conversation.exact, $0.at) }, uniquingKeysWith: max)
        for draft in try Draft.all(of: account.id, in: database) {
            activity[draft.conversation.exact] = max(activity[draft.conversation.exact] ?? 0, draft.at)
        }
        activity.merge(names.wantedRooms) { activity, _ in activity }
        let placements = try StoredSettings(database: database, account: account.id).placements()
        return activity.map { jid, at in
            Head(
                jid: jid.text, name: names.name(of: jid), isRoom: names.isRoom(jid), activeAt: at,
                placement: placements[jid] ?? .normal)
        }
        .filter { includingHidden || !$0.placement.isHidden }
        .sorted { $0.isBefore($1) }
    }
}

extension Conversations.Head {
    fileprivate func isBefore(_ other: Self) -> Bool {
        guard placement.isPinned == other.placement.isPinned else { return placement.isPinned }
        return (activeAt, other.jid.exact) > (other.activeAt, jid.exact)
    }
}

/// The name and the picture of a conversation.
struct ConversationFace {
    let name: String?
    let isRoom: Bool
    let picture: String?
    /// When the account first entered the room, in milliseconds since 1970.
    let enteredAt: Int64?

    /// - Parameter conversation: its name in the messages.
    init(_ conversation: String, of account: Int64, in database: Database) throws {
        let jid = JID.received(conversation)
        // An occupant is a different entity than the room.
        let room = jid.resource == nil ? try RoomRows(database: database, account: account).room(jid) : nil
        let contact = jid.resource == nil ? try RosterRows(database: database, account: account).contact(jid) : nil
        let profile = try ProfileRows(database: database, account: account).load(jid)
        (isRoom, enteredAt) = (room != nil, room?.since)
        picture = profile?.avatarFile
        name = contact?.name?.orNil ?? room?.info.name?.orNil ?? profile?.name?.orNil
    }
}

/// The names of all conversations of an account, read with one statement for each table.
private struct ConversationNames {
    private var names: [ExactText: String] = [:]
    private var rooms: Set<ExactText> = []
    /// The rooms that the account intends to be in, and when it first entered them; 0 if it never has.
    private(set) var wantedRooms: [ExactText: Int64] = [:]

    init(of account: Int64, in database: Database) throws {
        for (jid, name) in try ProfileRows(database: database, account: account).names() {
            names[jid.exact] = name?.orNil
        }
        for room in try RoomRows(database: database, account: account).all() {
            let jid = room.jid.description.exact
            rooms.insert(jid)
            if room.isWanted { wantedRooms[jid] = room.since ?? 0 }
            if let name = room.info.name?.orNil { names[jid] = name }
        }
        for contact in try RosterRows(database: database, account: account).all() {
            if let name = contact.name?.orNil { names[contact.jid.description.exact] = name }
        }
    }

    func name(of conversation: ExactText) -> String? { names[conversation] }
    func isRoom(_ conversation: ExactText) -> Bool { rooms.contains(conversation) }
}

extension String {
    fileprivate var orNil: String? { isEmpty ? nil : self }
}
