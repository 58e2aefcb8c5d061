/// The list of conversations: what is shown, after a search too.
public struct ConversationList: Sendable {
    /// All conversations, the last active first.
    public private(set) var all: [ConversationRow] = []
    /// Those that the search leaves.
    public private(set) var shown: [ConversationRow] = []
    /// The words that are searched for; empty for none.
    public var search = "" { didSet { filter() } }

    public init() {}

    /// Everything was read anew.
    public mutating func read(_ rows: [ConversationRow]) {
        all = rows
        filter()
    }

    /// A conversation was read anew; nil if there is nothing to show.
    public mutating func read(_ key: ConversationKey, _ row: ConversationRow?) {
        var rows = all.filter { $0.key != key }
        if var row {
            row.showsAccount = all.first?.showsAccount ?? row.showsAccount
            let place = rows.firstIndex { ConversationRow.isBefore(row, $0) } ?? rows.count
            rows.insert(row, at: place)
        }
        all = rows
        filter()
    }

    public func row(_ key: ConversationKey) -> ConversationRow? { all.first { $0.key == key } }

    /// The conversation that is `step` rows further than `key`.
    public func neighbour(of key: ConversationKey?, step: Int) -> ConversationRow? {
        guard let key, let place = shown.firstIndex(where: { $0.key == key }) else { return shown.first }
        let next = place + step
        return shown.indices.contains(next) ? shown[next] : nil
    }

    private mutating func filter() {
        let words = search.lowercased().split(separator: " ")
        guard !words.isEmpty else {
            shown = all
            return
        }
        shown = all.filter { row in
            let text = (row.name + " " + row.key.jid).lowercased()
            return words.allSatisfy { text.contains($0) }
        }
    }
}
