/// Whether a text in a room speaks to somebody.
enum Mention {
    /// Whether `text` has `nick` as a word of its own, in whatever case. Takes a time that grows with both (Knuth, Morris and Pratt):
    /// a room may give the account any nickname.
    static func names(_ nick: String, in text: String) -> Bool {
        let (text, nick) = (Array(text.lowercased()), Array(nick.lowercased()))
        guard !nick.isEmpty, text.count >= nick.count else { return false }
        let shorter = shorter(nick)
        var matched = 0
        for (place, character) in text.enumerated() {
            while matched > 0, nick[matched] != character { matched = shorter[matched - 1] }
            if nick[matched] == character { matched += 1 }
            guard matched == nick.count else { continue }
            let (start, end) = (place + 1 - matched, place + 1)
            if (start == 0 || !isPartOfWord(text[start - 1])) && (end == text.count || !isPartOfWord(text[end])) {
                return true
            }
            matched = shorter[matched - 1]
        }
        return false
    }

    /// For each beginning of `nick`, how long the longest shorter beginning is that it ends with.
    private static func shorter(_ nick: [Character]) -> [Int] {
        var lengths = [0]
        for character in nick.dropFirst() {
            var length = lengths[lengths.count - 1]
            while length > 0, nick[length] != character { length = lengths[length - 1] }
            lengths.append(nick[length] == character ? length + 1 : 0)
        }
        return lengths
    }

    private static func isPartOfWord(_ character: Character) -> Bool { character.isLetter || character.isNumber }
}
