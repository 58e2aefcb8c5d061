/// Emoji as reactions (XEP-0444 section 4.1).
enum Emoji {
    /// The maximum number of emoji of an author for a message.
    static let maxCount = 20
    /// The maximum length of an emoji in bytes: families and flags are long.
    private static let maxLength = 64

    /// The emoji among `texts`, without duplicates, in their order.
    static func list(_ texts: [String]) -> [String] {
        var list: [String] = []
        for text in texts where list.count < maxCount && isEmoji(text) && !list.contains(text) { list.append(text) }
        return list
    }

    /// Whether `text` is one emoji: a single perceived character.
    static func isEmoji(_ text: String) -> Bool {
        guard text.utf8.count <= maxLength, text.count == 1 else { return false }
        // In Unicode, digits are emoji for keycaps; they require the variation selector for emoji presentation.
        return text.unicodeScalars.contains { scalar in
            scalar.properties.isEmojiPresentation || scalar.value == 0xFE0F
                || scalar.properties.isEmoji && !scalar.isASCII
        }
    }
}
