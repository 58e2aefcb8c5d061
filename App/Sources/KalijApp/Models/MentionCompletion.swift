/// The completion of a nickname behind `@` in the composer of a group.
public struct MentionCompletion: Sendable, Equatable {
    /// The nicknames that match, at most ``most``.
    public private(set) var names: [String] = []
    public private(set) var selected = 0
    /// The number of characters from the `@` to the cursor.
    public private(set) var length = 0

    static let most = 5
    private static let longestName = 40

    public init() {}

    public var isShown: Bool { !names.isEmpty }

    /// The text before the cursor has changed.
    /// - Parameter all: the nicknames in the group, in their order.
    public mutating func changed(_ text: String, among all: [String]) {
        self = MentionCompletion()
        let word = text.suffix(Self.longestName + 1)
        guard let at = word.lastIndex(of: "@") else { return }
        // An address is no mention.
        if at > word.startIndex, !word[word.index(before: at)].isWhitespace { return }
        let begin = word[word.index(after: at)...]
        guard begin.count <= Self.longestName, !begin.contains(where: \.isNewline) else { return }
        length = begin.count + 1
        let wanted = begin.lowercased()
        names = Array(
            all.lazy.filter { $0.lowercased().hasPrefix(wanted) && $0.lowercased() != wanted }.prefix(Self.most))
    }

    /// Selects the next or the previous name.
    public mutating func move(_ step: Int) {
        guard isShown else { return }
        selected = (selected + step + names.count) % names.count
    }

    /// The text that replaces what was typed from the `@` on; nil if nothing is selected.
    public var replacement: String? { names.indices.contains(selected) ? "@" + names[selected] + " " : nil }

    public mutating func close() { names = [] }
}
