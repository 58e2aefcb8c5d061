import KalijText

/// The words of a search, as entered by a person. A message matches if it has words that begin with each of them, in any order. Case and
/// diacritics are ignored. Punctuation is a separator: `don't` matches the consecutive words `don` and `t…`. In scripts without spaces
/// between words (Chinese, Japanese, Korean, Thai, Lao, Khmer, Burmese) any part of a text is found, and so are emoji.
public struct SearchWords: Sendable {
    /// The maximum number of words in a search.
    public static let most = 100
    /// The maximum length of all words of a search in bytes.
    public static let longest = 10_000

    /// The query in FTS5's language: strings, all of which a row has to contain.
    let expression: String
    /// The words.
    let words: [String]

    /// - Throws: `SearchError`
    public init(_ text: String) throws {
        guard text.utf8.count <= Self.longest else { throw SearchError.tooLong }
        // A zero byte would end the query.
        let words = text.unicodeScalars.split { $0.properties.isWhitespace || $0 == "\0" }.map { String($0) }
        guard words.count <= Self.most else { throw SearchError.tooLong }
        guard !words.isEmpty else { throw SearchError.noWords }
        self.words = words
        expression = words.flatMap(SearchText.expressions).joined(separator: " ")
    }
}

/// The reason why a search is impossible.
public enum SearchError: Error, CustomStringConvertible {
    /// The text has only whitespace.
    case noWords
    /// There are more words than ``SearchWords/most``, or they are longer than ``SearchWords/longest``.
    case tooLong

    public var description: String {
        switch self {
        case .noWords: "there are no words to search for"
        case .tooLong: "a search takes at most \(SearchWords.most) words of \(SearchWords.longest) bytes together"
        }
    }
}
