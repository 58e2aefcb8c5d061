import KalijCore
import KalijStore

/// A search in the stored messages, by pages, newest first. Writes only temporary tables in memory.
package struct Search {
    private let database: Database
    private let scope: SearchScope
    private let words: SearchWords
    /// Milliseconds since 1970.
    private let times: Range<Int64>
    /// The maximum number of searched texts that are not indexed yet: 50,000 take about half a second.
    private let maxUnindexed: Int

    /// The temporary index of the texts that are not indexed yet, which exists during a search.
    package static let tail = """
        CREATE VIRTUAL TABLE temp.search_tail USING fts5(body, content='', columnsize=0,
            tokenize="unicode61 remove_diacritics 2 categories 'L* N* Co So Mn Mc'")
        """

    /// The maximum number of rows of the index that a page reads: texts that are not shown do not extend a search without end.
    private static let maxRows = 10_000
    private static let batch = 200

    package init(
        _ words: SearchWords, in scope: SearchScope, times: Range<Int64> = .min ..< .max, database: Database,
        longestTail: Int = 50_000
    ) {
        (self.words, self.scope, self.times) = (words, scope, times)
        (self.database, self.maxUnindexed) = (database, longestTail)
    }

    /// A message with all words.
    package struct Match {
        package let key: SearchKey
        package let place: TextPlace
    }

    package struct Page {
        /// Newest first.
        package let matches: [Match]
        /// Where the next page begins; nil if there is none.
        package let older: SearchKey?
    }

    /// The newest `limit` messages with all words before `key`. The duration depends neither on the number of stored messages nor on
    /// the number of matches.
    /// - Parameter tail: the result of ``unindexed(with:)``.
    package func page(_ limit: Int, before key: SearchKey?, tail: Set<Int64>) throws -> Page {
        var recent = try tail.compactMap { try MessageReader.textPlace(of: $0, in: database) }.compactMap { place in
            matches(place) ? SearchKey(row: place.row, at: place.sentAt).map { Match(key: $0, place: place) } : nil
        }
        let (indexed, end) = try inIndex(limit, before: key)
        // What follows the last row that was read belongs to the next page.
        recent.removeAll { match in key.map { match.key >= $0 } ?? false || end.map { match.key < $0 } ?? false }
        let found = (indexed + recent).sorted { $0.key > $1.key }
        let page = Array(found.prefix(limit))
        return Page(matches: page, older: found.count > limit ? page.last?.key ?? key : end)
    }

    /// The key of the message in `row`, as the beginning of a page.
    package static func key(of row: Int64, in database: Database) throws -> SearchKey? {
        if let key = try SearchIndex(database: database).key(of: row) { return key }
        return try MessageReader.textPlace(of: row, in: database).flatMap {
            $0.isShown ? SearchKey(row: row, at: $0.sentAt) : nil
        }
    }

    private func matches(_ place: TextPlace) -> Bool {
        place.isShown && scope.contains(place.account, place.conversation) && times.contains(place.sentAt)
    }

    /// - Returns: at least `limit` matches, if there are as many, and the last row that was read if there are more.
    private func inIndex(_ limit: Int, before key: SearchKey?) throws -> (matches: [Match], end: SearchKey?) {
        let statement = try database.statement(
            """
            SELECT rowid FROM search_text WHERE search_text MATCH ? AND rowid < ? AND rowid >= ?
            ORDER BY rowid DESC LIMIT ?
            """)
        let expression = Value.text(scope.expression(words))
        var (found, end) = ([Match](), key)
        for _ in 0..<Self.maxRows / Self.batch {
            let keys = try statement.all([
                expression, .integer(end?.number ?? .max), .integer(first.number), .integer(Int64(Self.batch)),
            ]) { SearchKey(number: $0.integer()) }
            for key in keys {
                guard let place = try MessageReader.textPlace(of: key.row, in: database), matches(place) else {
                    continue
                }
                found.append(Match(key: key, place: place))
            }
            guard keys.count == Self.batch, let last = keys.last else { return (found, nil) }
            end = last
            if found.count >= limit { break }
        }
        return (found, end)
    }

    /// The lower bound of the keys. A message may be indexed with a time that the archive has corrected by up to a day.
    private var first: SearchKey { .first(at: times.lowerBound < .min + Self.day ? .min : times.lowerBound - Self.day) }
    private static let day: Int64 = 24 * 3600 * 1000

    // MARK: Texts that are not indexed yet

    /// The rows with all words among the texts that are not indexed yet, and among `waiting`, messages without a row; and an upper bound
    /// for the number of older texts that were neither indexed nor searched.
    package func unindexed(with waiting: [Message]) throws -> (rows: Set<Int64>, unsearched: Int64) {
        let place = try SearchIndex(database: database).place()
        let texts = try MessageReader.newestTexts(after: place, limit: maxUnindexed, in: database)
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
