/// The attached files of the conversations that are not open, until the app ends.
public struct UnsentFiles: Sendable {
    private var files: [ConversationKey: [Attachment]] = [:]

    public init() {}

    /// Keeps `attached` after what is kept for the conversation already.
    public mutating func keep(_ attached: [Attachment], for key: ConversationKey) {
        if !attached.isEmpty { files[key, default: []] += attached }
    }

    /// The files of a conversation that is opened.
    public mutating func take(_ key: ConversationKey) -> [Attachment] { files.removeValue(forKey: key) ?? [] }

    /// The app ends: removes the bytes that were pasted.
    public mutating func discard() {
        for attached in files.values { attached.forEach { $0.discard() } }
        files = [:]
    }
}
