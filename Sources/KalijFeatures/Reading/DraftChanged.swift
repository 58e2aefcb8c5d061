import KalijCore
import KalijText

/// The draft of a conversation was stored or removed.
public struct DraftChanged: EventContent {
    public static let name = "draft"
    public static let meaning = "The draft of a conversation was stored or removed, by whatever process."
    public static let keys: [EventKey] = [.conversation]
    /// The bare address of the other side.
    public let conversation: String
    public var fields: [EventField] { [EventField(.conversation, .text(conversation))] }
    public var changed: DirectoryChange.Part? { .init(.conversation, conversation) }
    public var line: PrintedText? { nil }
    public var isDetail: Bool { true }
}
