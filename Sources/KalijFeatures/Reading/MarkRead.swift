import KalijAddress
import KalijCore
import KalijText

/// Records that the user has read a conversation: up to a message, or all of it.
public struct MarkRead: Intent {
    public static let name = "read"
    /// The address of the conversation: a bare address; for an occupant of a room the full address.
    public let conversation: String
    /// The last read message; nil for the newest message when the intent is performed.
    public let through: MessageReference?

    /// - Parameters:
    ///   - conversation: the conversation.
    ///   - through: the last read message; nil for the newest message when the intent is performed.
    public init(_ conversation: JID, through: MessageReference? = nil) {
        (self.conversation, self.through) = (conversation.description, through)
    }

    public func check() throws { _ = try JID(conversation) }

    public func perform(_ id: String, in step: Step) throws -> IntentOutcome {
        let conversation = try RoomRows(database: step.database, account: step.account.id)
            .conversation(with: JID(conversation))
        guard let place = try last(in: conversation, step) else { return .done }
        let places = DisplayedPlaces(step: step)
        let old = try places.position(in: conversation)
        guard try places.advance(conversation, to: place, by: .user) else { return .done }
        let isMarked = try Markers(step: step).read(conversation, through: place, from: old, id: id)
        try DisplayedNode(step: step).publish()
        return isMarked ? .pending : .done
    }

    /// The last read message of somebody else: the user's own messages do not move the place (XEP-0490 section 5.1).
    private func last(in conversation: String, _ step: Step) throws -> MessageReader.Place? {
        guard let through else {
            var order = ArchiveOrder(database: step.database, account: step.account.id)
            return try order.newestIncoming(in: conversation)
        }
        let message = try through.found(in: step)
        guard message.conversation.exact == conversation.exact else {
            throw IntentFailure("the message is not in the conversation with \(conversation)")
        }
        let messages = MessageReader(database: step.database, account: step.account.id)
        let position = try messages.place(of: message.id)?.position
        return try messages.newestIncoming(in: conversation, through: position ?? .max)
    }
}
