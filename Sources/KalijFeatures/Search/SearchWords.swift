import KalijText

/// The words of a search, as a person writes them. A message is found if the message has all of them, in any order. Case and
/// diacritics do not count. Punctuation has no meaning: `don't` is found by the words `don` and `t`, one after the other. Any part of a
/// text without spaces between words (Chinese, Japanese, Korean, Thai, Lao, Khmer, Burmese) is found, and so are emoji.
public struct SearchWords: Sendable {
    /// The most words of a search.
    public static let most = 100
    /// The most bytes of all words of a search.
    public static let longest = 10_000

    /// The query in FTS5's language: strings, of which a row has to have all.
    let expression: String

    /// - Throws: `SearchError`
    public init(_ text: String) throws {
        guard text.utf8.count <= Self.longest else { throw SearchError.tooLong }
        // A zero byte would end the query.
        let words = text.unicodeScalars.split { $0.properties.isWhitespace || $0 == "\0" }.map { String($0) }
        guard words.count <= Self.most else { throw SearchError.tooLong }
        guard !words.isEmpty else { throw SearchError.noWords }
        expression = words.flatMap(SearchText.expressions).joined(separator: " ")
    }
}

/// Why nothing can be searched.
public enum SearchError: Error, CustomStringConvertible {
    /// Nothing but white space was given.
    case noWords
    /// The words are more than ``SearchWords/most``, or longer than ``SearchWords/longest``.
    case tooLong

    public var description: String {
        switch self {
        case .noWords: "there are no words to search for"
        case .tooLong: "a search takes at most \(SearchWords.most) words of \(SearchWords.longest) bytes together"
        }
    }
}
