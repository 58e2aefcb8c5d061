/// Whether a text in a room speaks to somebody.
enum Mention {
    /// Whether `text` has `nick` as a word of its own, in whatever case.
    static func names(_ nick: String, in text: String) -> Bool {
        guard !nick.isEmpty else { return false }
        let (text, nick) = (Array(text.lowercased()), Array(nick.lowercased()))
        guard text.count >= nick.count else { return false }
        return (0...text.count - nick.count).contains { start in
            let end = start + nick.count
            return text[start] == nick[0] && text[start..<end].elementsEqual(nick)
                && (start == 0 || !isPartOfWord(text[start - 1])) && (end == text.count || !isPartOfWord(text[end]))
        }
    }

    private static func isPartOfWord(_ character: Character) -> Bool { character.isLetter || character.isNumber }
}
