/// What was composed in a conversation and is no stored draft: files for the next message, and a correction in progress.
public struct UnsentWork: Sendable, Equatable {
    public var files: [Attachment]
    /// The correction with its text so far.
    public var correction: StoredDraft?

    public init(files: [Attachment] = [], correction: StoredDraft? = nil) {
        (self.files, self.correction) = (files, correction)
    }

    public var isEmpty: Bool { files.isEmpty && correction == nil }
}

/// The unsent work of the conversations that are not open, until the app ends.
public struct UnsentWorks: Sendable {
    private var works: [ConversationKey: UnsentWork] = [:]

    public init() {}

    /// Keeps `work` after what is kept for the conversation already; the later correction is the one that counts.
    public mutating func keep(_ work: UnsentWork, for key: ConversationKey) {
        guard !work.isEmpty else { return }
        works[key, default: UnsentWork()].files += work.files
        if let correction = work.correction { works[key]?.correction = correction }
    }

    /// The work of a conversation that is opened.
    public mutating func take(_ key: ConversationKey) -> UnsentWork { works.removeValue(forKey: key) ?? UnsentWork() }

    /// The app ends: removes the bytes that were pasted.
    public mutating func discard() {
        for work in works.values { work.files.forEach { $0.discard() } }
        works = [:]
    }
}
