/// A reaction that the menu offers before the chooser of all emoji.
public struct QuickReaction: Sendable, Equatable {
    public let emoji: String
    public let name: String

    /// What the menu displays; a screen reader says the name alone.
    public var words: String { emoji + "  " + name }

    static var all: [QuickReaction] {
        [
            QuickReaction(emoji: "👍", name: tr("Thumbs up")), QuickReaction(emoji: "❤️", name: tr("Heart")),
            QuickReaction(emoji: "😂", name: tr("Laughing")), QuickReaction(emoji: "😮", name: tr("Surprised")),
            QuickReaction(emoji: "😢", name: tr("Sad")), QuickReaction(emoji: "🙏", name: tr("Thank you")),
        ]
    }
}

extension MessageRow {
    /// The menu's reactions that are not the user's already.
    public var quickReactions: [QuickReaction] { QuickReaction.all.filter { !ownReactions.contains($0.emoji) } }
}
