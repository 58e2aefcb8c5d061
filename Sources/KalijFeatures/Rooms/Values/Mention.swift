/// Detects mentions of a nickname in a text.
package enum Mention {
    /// Whether `text` has `nick` as a separate word, ignoring case. Takes time linear in both lengths (Knuth, Morris and Pratt): a room
    /// may assign the account any nickname.
    package static func names(_ nick: String, in text: String) -> Bool {
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

    /// For each prefix of `nick`, the length of its longest proper prefix that is also its suffix.
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
