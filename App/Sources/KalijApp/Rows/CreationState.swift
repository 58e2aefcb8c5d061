import KalijClient

/// How far the creation of a group is, as its row displays it.
public struct CreationState: Sendable, Equatable {
    /// The id of the intent.
    public let id: String
    /// The bare address of the room, which has no row of its own yet; nil before it has one, or after a failure.
    public let room: String?
    public let words: String
    /// Whether the user decides: the creation has failed.
    public let isFailed: Bool

    init(id: String, room: String?, words: String, isFailed: Bool) {
        (self.id, self.room, self.words, self.isFailed) = (id, room, words, isFailed)
    }

    init(_ creation: GroupCreation) {
        (id, isFailed) = (creation.id, creation.stage == .failed)
        room = isFailed ? nil : creation.room?.description
        words = Words.creation(creation)
    }
}

extension ConversationRow {
    /// Whether it is the row of a group in creation for `key`, its own or that of its room.
    func represents(_ key: ConversationKey) -> Bool {
        key == self.key || key.account == self.key.account && creation?.room == key.jid
    }

    /// The actions on a failed creation.
    public enum CreationAction: Sendable, CaseIterable {
        case retry, forget

        public var words: String { self == .retry ? Words.retry : Words.remove }
    }
}
