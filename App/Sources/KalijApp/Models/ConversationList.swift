/// The list of conversations: what is shown, after a search too. Of thousands, the rows in sight alone are read whole, and the list grows as it
/// is scrolled.
public struct ConversationList: Sendable {
    /// All conversations, the last active first.
    public private(set) var all: [ConversationRow] = []
    /// Those that the search leaves.
    public private(set) var found: [ConversationRow] = []
    /// The words that are searched for; empty for none.
    public var search = "" {
        didSet {
            length = Self.begin
            filter()
        }
    }
    /// How many rows the list has at most.
    private var length = Self.begin
    /// The rows whose content is not read, or may be old.
    private var stale: Set<ConversationKey> = []

    /// How many rows the first picture has.
    public static let begin = 20
    /// By how many rows the list grows.
    public static let step = 60

    public init() {}

    /// The rows of the list.
    public var shown: ArraySlice<ConversationRow> { found.prefix(length) }

    /// The end of the list is near.
    /// - Returns: whether the list has grown.
    public mutating func grow() -> Bool {
        guard length < found.count else { return false }
        length += Self.step
        return true
    }

    /// The list has a row for `key`, if the search leaves it.
    public mutating func include(_ key: ConversationKey) {
        if let place = found.firstIndex(where: { $0.key == key }) { length = max(length, place + 1) }
    }

    // MARK: Reading

    /// All conversations were read, without what is said there: what was known of it is shown until it is read anew.
    public mutating func read(heads: [ConversationRow]) {
        let known = Dictionary(all.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
        all = heads.map { head in
            guard var row = known[head.key] else { return head }
            (row.name, row.at, row.isGroup, row.showsAccount) = (head.name, head.at, head.isGroup, head.showsAccount)
            return row
        }
        stale = Set(heads.map(\.key))
        filter()
    }

    /// Which of the rows at `places` of the list are to be read.
    public func wanted(_ places: some Sequence<Int>) -> [ConversationKey] {
        places.compactMap { shown.indices.contains($0) && stale.contains(shown[$0].key) ? shown[$0].key : nil }
    }

    /// Some conversations were read whole. One in which there is nothing any more is no row.
    public mutating func read(_ rows: [ConversationRow]) {
        guard !rows.isEmpty else { return }
        let keys = Set(rows.map(\.key))
        stale.subtract(keys)
        all = (all.filter { !keys.contains($0.key) } + rows.filter { $0.at > 0 || $0.isGroup })
            .sorted(by: ConversationRow.isBefore)
        filter()
    }

    public func row(_ key: ConversationKey) -> ConversationRow? { all.first { $0.key == key } }

    /// The conversation that is `step` rows further than `key`.
    public func neighbour(of key: ConversationKey?, step: Int) -> ConversationRow? {
        guard let key, let place = found.firstIndex(where: { $0.key == key }) else { return found.first }
        let next = place + step
        return found.indices.contains(next) ? found[next] : nil
    }

    private mutating func filter() {
        let words = search.lowercased().split(separator: " ")
        guard !words.isEmpty else {
            found = all
            return
        }
        found = all.filter { row in
            let text = (row.name + " " + row.key.jid).lowercased()
            return words.allSatisfy { text.contains($0) }
        }
    }
}
