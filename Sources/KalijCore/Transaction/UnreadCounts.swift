import KalijText

/// The numbers of unread messages, as counted last by the process that drives, which alone changes them: a message behind all others makes
/// one more, while counting takes longer the more there are.
package final class UnreadCounts {
    private struct Key: Hashable {
        let conversation: ExactText
        let account: Int64
    }

    private var counts: [Key: Int] = [:]
    /// The maximum number of conversations.
    private static let limit = 1000

    package init() {}

    /// The number of `conversation`; nil if it has to be counted.
    package subscript(conversation: String, of account: Int64) -> Int? {
        get { counts[Key(conversation: conversation.exact, account: account)] }
        set {
            if counts.count >= Self.limit { forget() }
            counts[Key(conversation: conversation.exact, account: account)] = newValue
        }
    }

    /// Adds `more` messages to the number of `conversation`, at most up to `most`; nil if it has to be counted.
    package func add(_ more: Int, in conversation: String, of account: Int64, most: Int) -> Int? {
        guard let place = counts.index(forKey: Key(conversation: conversation.exact, account: account)) else {
            return nil
        }
        counts.values[place] = min(counts.values[place] + more, most)
        return counts.values[place]
    }

    /// Any number may differ: a transaction was undone, or something changed that concerns many conversations.
    package func forget() { counts = [:] }
}

/// How the unread messages of a conversation differ from those before a step.
package enum UnreadChange {
    /// So many messages were stored behind all others.
    case arrived(Int)
    /// In any way.
    case other

    mutating func add(_ later: UnreadChange) {
        self =
            if case .arrived(let some) = self, case .arrived(let more) = later { .arrived(some + more) } else { .other }
    }
}
