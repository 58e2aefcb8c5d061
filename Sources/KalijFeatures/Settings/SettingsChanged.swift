import KalijCore
import KalijText

/// The settings of disclosures or notifications have changed.
public struct SettingsChanged: EventContent {
    public static let name = "settings"
    public static let meaning =
        "The settings of a conversation, or without `conversation` of all others, were changed by whatever process."
    public static let keys: [EventKey] = [.conversation]
    /// The bare address of the other side; nil for all conversations without a setting of their own.
    public let conversation: String?
    /// Whether the user has chosen what notifies, perhaps the same as before; a period of silence is no such choice.
    let hasChoice: Bool
    public var fields: [EventField] { .present(.optional(.conversation, conversation)) }
    public var changed: DirectoryChange.Part? { .init(.conversation, conversation ?? "") }
    public var line: PrintedText? { nil }
    public var isDetail: Bool { true }
}
