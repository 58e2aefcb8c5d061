/// An emoji, and how many have reacted with it.
public struct ReactionCount: Sendable, Equatable {
    public let emoji: String
    public let count: Int
    /// Whether the user is among them.
    public let isOwn: Bool

    public init(_ emoji: String, count: Int, isOwn: Bool) {
        (self.emoji, self.count, self.isOwn) = (emoji, count, isOwn)
    }

    /// The maximum number of displayed emoji.
    static let most = 20

    /// The emoji in the order of their first authors; the user's own come before those that are omitted.
    static func counts(_ reactions: [(author: String, emoji: [String])], of account: String) -> [ReactionCount] {
        var order: [String] = []
        var counts: [String: Int] = [:]
        for emoji in reactions.flatMap(\.emoji) {
            if counts[emoji] == nil { order.append(emoji) }
            counts[emoji, default: 0] += 1
        }
        let own = Set(reactions.filter { $0.author == account }.flatMap(\.emoji))
        if order.count > most { order = order.filter(own.contains) + order.filter { !own.contains($0) } }
        return order.prefix(most).map { ReactionCount($0, count: counts[$0] ?? 1, isOwn: own.contains($0)) }
    }

    /// The text of the chip: "❤", "❤ 3".
    public var label: String { count > 1 ? emoji.shownName + " \(count)" : emoji.shownName }

    /// The accessible words: "❤ 3, also yours".
    public var words: String {
        guard isOwn else { return label }
        return count > 1 ? Words.alsoOwn(label) : Words.ownReaction(label)
    }
}

extension MessageRow {
    /// The user's emoji after `emoji` was chosen: chosen again, it is removed.
    public func reactions(toggling emoji: String) -> [String] {
        ownReactions.contains(emoji) ? ownReactions.filter { $0 != emoji } : ownReactions + [emoji]
    }
}
