/// Emoji as reactions (XEP-0444 section 4.1).
enum Emoji {
    /// How many emoji an author may give a message.
    static let most = 20
    /// The longest emoji, in bytes: families and flags are long.
    private static let longest = 64

    /// The emoji among `texts`, each once, in their order.
    static func list(_ texts: [String]) -> [String] {
        var list: [String] = []
        for text in texts where list.count < most && isEmoji(text) && !list.contains(text) { list.append(text) }
        return list
    }

    /// Whether `text` is one emoji: a single character for people.
    static func isEmoji(_ text: String) -> Bool {
        guard text.utf8.count <= longest, text.count == 1 else { return false }
        // A digit is an emoji in Unicode's sense, for keycaps: with the sign that asks for a picture.
        return text.unicodeScalars.contains { scalar in
            scalar.properties.isEmojiPresentation || scalar.value == 0xFE0F
                || scalar.properties.isEmoji && !scalar.isASCII
        }
    }
}
