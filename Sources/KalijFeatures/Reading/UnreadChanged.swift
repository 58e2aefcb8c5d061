import KalijCore
import KalijText

/// The number of unread messages of a conversation may have changed.
public struct UnreadChanged: EventContent {
    public static let name = "unread"
    public static let meaning =
        "The number of unread messages of a conversation: a message came, was read on any device, or is gone."
    public static let keys: [EventKey] = [.conversation, .unread]
    /// The bare address of the other side.
    public let conversation: String
    /// The number of unread messages; 1000 if there are more.
    public let count: Int
    public var fields: [EventField] {
        [EventField(.conversation, .text(conversation)), EventField(.unread, .integer(Int64(count)))]
    }
    public var changed: DirectoryChange.Part? { .init(.conversation, conversation) }
    public var line: PrintedText? { "\(conversation): \(count) unread" }
    public var isDetail: Bool { true }

    package init(conversation: String, count: Int) { (self.conversation, self.count) = (conversation, count) }
}

extension EventKey {
    /// The number of unread messages of a conversation.
    public static let unread = EventKey(
        "unread", "how many messages of others are unread in the conversation; 1000 if there are more")
}
