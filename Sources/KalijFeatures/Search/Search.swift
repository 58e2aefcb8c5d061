import KalijCore
import KalijStore
import KalijText

/// A search in the stored messages of an account. Writes only a temporary table in memory.
package struct Search {
    private let database: Database
    private let account: Int64
    private let messages: MessageReader

    /// The maximum number of searched texts that are not indexed yet: about half a second.
    private let maxUnindexed: Int
    /// The temporary index of the texts that are not indexed yet, which exists during a search.
    package static let tail = """
        CREATE VIRTUAL TABLE temp.search_tail USING fts5(body, content='', columnsize=0,
            tokenize="unicode61 remove_diacritics 2 categories 'L* N* Co So Mn Mc'")
        """

    /// The criteria for messages.
    package struct Filter {
        /// The bare address of a conversation; nil for all.
        package var conversation: String?
        /// Milliseconds since 1970.
        package var times: Range<Int64>

        package init(conversation: String?, times: Range<Int64>) {
            (self.conversation, self.times) = (conversation, times)
        }
    }

    package init(database: Database, account: Int64, longestTail: Int = 50_000) {
        (self.database, self.account, self.maxUnindexed) = (database, account, longestTail)
        messages = MessageReader(database: database, account: account)
    }

    /// The newest `limit` messages with all `words`, oldest first. The duration depends on the number of matches, not on the number of
    /// stored messages.
    /// - Parameter waiting: messages without a row, oldest first.
    /// - Returns: the messages, and an upper bound for the number of older texts that were neither indexed nor searched.
    package func newest(
        _ limit: Int, with words: SearchWords, _ filter: Filter, waiting: [Message]
    ) throws -> (messages: [Message], unsearched: Int64) {
        let (recent, unsearched) = try inTail(words, waiting)
        let indexed = try database.statement("SELECT rowid FROM search_text WHERE search_text MATCH ?")
            .all([.text(words.expression)]) { $0.integer() }
        let places = try (indexed + recent.filter { $0 > 0 }).compactMap { try messages.shownPlace(of: $0) }
            .filter { matches($0.conversation, $0.sentAt, filter) }
            .sorted { ($0.position, $0.row) < ($1.position, $1.row) }
        // characters: messages.
        let shared = waiting.filter { recent.contains($0.id) && matches($0.conversation, $0.sentAt, filter) }.suffix(
            limit)
        let stored = try places.suffix(limit - shared.count)
            .compactMap {
                try messages.message($0.row)?.withReactions(in: database).withDisplayed(by: account, in: database)
            }
        return (stored + shared, unsearched)
    }

    private func matches(_ conversation: String, _ sentAt: Int64, _ filter: Filter) -> Bool {
        (filter.conversation.map { $0.exact == conversation.exact } ?? true) && filter.times.contains(sentAt)
    }

    /// The rows with all words among the texts that are not indexed yet.
    private func inTail(_ words: SearchWords, _ waiting: [Message]) throws -> (rows: Set<Int64>, unsearched: Int64) {
        let place = try SearchIndex(database: database).place()
        let texts = try messages.newestTexts(after: place, limit: maxUnindexed)
        let unsearched = texts.count < maxUnindexed ? 0 : (texts.last?.row ?? 0) - place - 1
        guard !texts.isEmpty || !waiting.isEmpty else { return ([], unsearched) }
        try database.execute(Self.tail)
        defer { try? database.execute("DROP TABLE temp.search_tail") }
        let insert = try database.prepare("INSERT INTO temp.search_tail(rowid, body) VALUES (?, ?)")
        func add(_ text: String, of row: Int64) throws {
            try insert.run([.integer(row), .text(SearchText.indexed(text))])
        }
        for (row, text) in texts { try add(text, of: row) }
        for message in waiting { if let text = message.body { try add(text, of: message.id) } }
        let rows = try database.prepare("SELECT rowid FROM temp.search_tail WHERE search_tail MATCH ?")
            .all([.text(words.expression)]) { $0.integer() }
        return (Set(rows), unsearched)
    }
}
