import KalijClient

/// The list of conversations, optionally filtered by a search, which also finds messages. Of thousands, only the visible rows are read
/// completely, and the list grows as it is scrolled.
public struct ConversationList: Sendable {
    /// All conversations, hidden ones too: pinned ones first, most recently active first.
    public private(set) var all: [ConversationRow] = []
    /// The conversations that match the search; without one, those that are not hidden.
    public private(set) var found: [ConversationRow] = []
    /// The words of the search; empty for none.
    public var search = "" {
        didSet {
            length = Self.begin
            filter()
            // Earlier results stay until the new ones are read.
            if search.isEmpty { results = SearchResults() }
        }
    }
    /// The messages that match the search, as far as they were read.
    private(set) var results = SearchResults()
    /// The maximum number of rows of the list.
    private var length = Self.begin
    /// The rows whose content is not read, or may be outdated.
    private var stale: Set<ConversationKey> = []

    /// The number of rows in the first frame.
    public static let begin = 20
    /// The number of rows by which the list grows.
    public static let step = 60

    public init() {}

    /// The rows of the list: conversations, then messages.
    public var shown: [ConversationRow] { found.prefix(length) + (length < found.count ? [] : results.rows) }

    /// The end of the list is near.
    /// - Returns: whether the list has grown.
    public mutating func grow() -> Bool {
        guard length < found.count else { return false }
        length += Self.step
        return true
    }

    /// Extends the list to the row for `key`, if the row matches the search.
    public mutating func include(_ key: ConversationKey) {
        if let place = found.firstIndex(where: { $0.key == key }) { length = max(length, place + 1) }
    }

    // MARK: Reading

    /// All conversations were read without their content: the previous content is displayed until it is read again.
    public mutating func read(heads: [ConversationRow]) {
        let known = Dictionary(all.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
        all = heads.map { head in
            guard var row = known[head.key] else { return head }
            (row.name, row.at, row.isGroup, row.showsAccount) = (head.name, head.at, head.isGroup, head.showsAccount)
            (row.isPinned, row.isHidden) = (head.isPinned, head.isHidden)
            row.creation = head.creation
            return row
        }
        stale = Set(heads.map(\.key))
        filter()
    }

    /// The conversations to read among the rows at `places` of the list.
    public func wanted(_ places: some Sequence<Int>) -> [ConversationKey] {
        places.compactMap { shown.indices.contains($0) && stale.contains(shown[$0].key) ? shown[$0].key : nil }
    }

    /// Some conversations were read completely. A conversation without content has no row.
    public mutating func read(_ rows: [ConversationRow]) {
        guard !rows.isEmpty else { return }
        let keys = Set(rows.map(\.key))
        stale.subtract(keys)
        all = (all.filter { !keys.contains($0.key) } + rows.filter { $0.at > 0 || $0.isGroup })
            .sorted(by: ConversationRow.isBefore)
        filter()
    }

    // MARK: Searching

    /// Where the next results begin; nil if there are none.
    public var nextResults: SearchKey? { search.isEmpty ? nil : results.older }

    /// Messages were read.
    /// - Parameters:
    ///   - words: the words for which they were read.
    ///   - place: where they begin; nil for the newest.
    /// - Returns: false if something else is searched meanwhile.
    public mutating func read(_ more: SearchResults, for words: String, from place: SearchKey?) -> Bool {
        guard words == search, place == nil || place == results.older else { return false }
        results = SearchResults(rows: (place == nil ? [] : results.rows) + more.rows, older: more.older)
        return true
    }

    public func row(_ key: ConversationKey) -> ConversationRow? { all.first { $0.key == key } }

    /// The conversation `step` rows after `key`.
    public func neighbour(of key: ConversationKey?, step: Int) -> ConversationRow? {
        guard let key, let place = found.firstIndex(where: { $0.key == key }) else { return found.first }
        let next = place + step
        return found.indices.contains(next) ? found[next] : nil
    }

    private mutating func filter() {
        let words = search.lowercased().split(separator: " ")
        guard !words.isEmpty else {
            found = all.filter { !$0.isHidden }
            return
        }
        found = all.filter { row in
            let text = (row.name + " " + row.key.jid).lowercased()
            return words.allSatisfy { text.contains($0) }
        }
    }
}
