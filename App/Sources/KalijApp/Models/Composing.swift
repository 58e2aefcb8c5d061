/// The meaning of the text in the composer.
public enum Composing: Sendable, Equatable {
    case message
    /// `words` is the line above the text.
    case reply(to: Int64, words: String)
    /// `text` is the text before the correction.
    case correction(of: Int64, text: String)

    /// A reply to `message`.
    public static func reply(to message: MessageRow) -> Composing {
        let line = message.text.withoutBreakingPlaces.shownLine
        return .reply(
            to: message.id, words: message.isOwn ? Words.replyToOwn(line) : Words.replyTo(message.author, line))
    }

    /// The line above the text; nil for a plain message.
    public var words: String? {
        switch self {
        case .message: nil
        case .reply(_, let words): words
        case .correction(_, let text): Words.correcting(text.withoutBreakingPlaces.shownLine)
        }
    }

    /// The accessible name of the text.
    /// - Parameter recipient: the person or the group; empty if no conversation is open.
    public func name(to recipient: String) -> String {
        words ?? (recipient.isEmpty ? Words.message : Words.message(to: recipient))
    }

    /// The row of the message that the text replies to.
    public var answered: Int64? { if case .reply(let id, _) = self { id } else { nil } }

    /// The row of the message that the text corrects.
    public var corrected: Int64? { if case .correction(let id, _) = self { id } else { nil } }

    /// The row of the message that the text refers to.
    fileprivate var reference: Int64? { answered ?? corrected }

    /// Whether the text replaces the text of a message: such a text is stored beside the draft, and has no files.
    public var isCorrection: Bool { corrected != nil }

    /// The meaning after the conversation was read again: the message that the text replies to may have been corrected or retracted.
    public func updated(from page: Page) -> Composing {
        guard let id = answered, let message = page.messages.first(where: { $0.id == id }) else { return self }
        return .reply(to: message)
    }
}

/// A stored draft, as the composer displays it.
public struct StoredDraft: Sendable, Equatable {
    public let text: String
    public let composing: Composing

    public init(_ text: String = "", _ composing: Composing = .message) {
        (self.text, self.composing) = (text, composing)
    }

    /// The text of the draft, and another one behind it.
    public func followed(by other: String) -> String {
        text.isEmpty || other.isEmpty ? text + other : text + "\n" + other
    }

    /// Whether nothing is to be stored again: an empty text is no draft, whatever it replies to.
    public func isSame(as other: StoredDraft) -> Bool {
        text == other.text && (text.isEmpty || composing.reference == other.composing.reference)
    }
}
