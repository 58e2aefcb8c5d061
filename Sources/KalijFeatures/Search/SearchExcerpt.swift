import KalijStore
import KalijText

/// Where the words of a search are in a text.
public struct SearchExcerpt: Sendable, Equatable {
    /// The place of the first word in the text: the number of Unicode scalars before it, and of its own. nil if the place was not found,
    /// as in the end of a very long text.
    public let range: Range<Int>?
    /// The part of the text with the first word, in one line, with an ellipsis where text is left out.
    public let text: String

    /// The number of scalars of an excerpt, and of those before the word.
    private static let (length, before) = (100, 30)
    /// The number of scalars of a text that are searched for the place.
    private static let maxLength = 10_000
    /// What FTS5 writes around a word. XML has neither, so a text from a server has none.
    private static let (opening, closing): (Unicode.Scalar, Unicode.Scalar) = ("\u{2}", "\u{3}")

    /// The temporary index of the texts of a page, with a copy of the texts.
    package static let table = """
        CREATE VIRTUAL TABLE temp.search_excerpt USING fts5(body,
            tokenize="unicode61 remove_diacritics 2 categories 'L* N* Co So Mn Mc'")
        """

    /// The excerpts of `texts`, by the tokenizer of the index.
    package static func all(of texts: [String], _ words: SearchWords, in database: Database) throws -> [SearchExcerpt] {
        try database.execute(table)
        defer { try? database.execute("DROP TABLE temp.search_excerpt") }
        let insert = try database.prepare("INSERT INTO temp.search_excerpt(rowid, body) VALUES (?, ?)")
        let begins = texts.map { Array($0.unicodeScalars.prefix(maxLength)) }
        for (row, scalars) in begins.enumerated() {
            let text = String(scalars.map { $0 == opening || $0 == closing || $0 == "\0" ? " " : $0 })
            try insert.run([.integer(Int64(row)), .text(text)])
        }
        let places = try database.prepare(
            """
            SELECT rowid, highlight(search_excerpt, 0, char(2), char(3)) AS text FROM temp.search_excerpt
            WHERE search_excerpt MATCH ?
            """
        ).all([.text(words.spaced.isEmpty ? "\"\"" : words.spaced.joined(separator: " OR "))]) {
            (Int($0.integer("rowid")), firstWord(in: $0.text("text")))
        }
        let spaced = Dictionary(places) { first, _ in first }
        return begins.enumerated().map { row, scalars in
            let ranges = words.runs.compactMap { place(of: $0, in: scalars) } + [spaced[row] ?? nil].compactMap { $0 }
            return SearchExcerpt(
                scalars, ranges.min { $0.lowerBound < $1.lowerBound }, isWhole: scalars.count < maxLength)
        }
    }

    private init(_ scalars: [Unicode.Scalar], _ range: Range<Int>?, isWhole: Bool) {
        self.range = range
        var begin = max(0, (range?.lowerBound ?? 0) - Self.before)
        // At the beginning of a word, if one is near.
        // characters: scalars.
        if begin > 0, let space = scalars[begin...].prefix(Self.before).firstIndex(where: \.properties.isWhitespace) {
            begin = space + 1
        }
        let end = min(scalars.count, begin + Self.length)
        let line = String(scalars[begin..<end].map { $0.properties.isWhitespace ? " " : $0 })
        text = (begin > 0 ? "…" : "") + line + (end < scalars.count || !isWhole ? "…" : "")
    }

    private static func firstWord(in marked: String) -> Range<Int>? {
        let scalars = Array(marked.unicodeScalars)
        guard let begin = scalars.firstIndex(of: opening), let end = scalars[begin...].firstIndex(of: closing) else {
            return nil
        }
        return begin..<end - 1
    }

    private static func place(of run: [Unicode.Scalar], in text: [Unicode.Scalar]) -> Range<Int>? {
        guard !run.isEmpty, text.count >= run.count else { return nil }
        let begin = (0...text.count - run.count).first {
            text[$0] == run[0] && text[$0..<$0 + run.count].elementsEqual(run)
        }
        return begin.map { $0..<$0 + run.count }
    }
}

extension SearchWords {
    /// The query for each part of a word that the tokenizer segments.
    fileprivate var spaced: [String] { words.flatMap(SearchText.spacedExpressions) }
    /// The parts that are found literally: letters of scripts without spaces, and signs.
    fileprivate var runs: [[Unicode.Scalar]] { words.flatMap(SearchText.runs) }
}
