extension String {
    /// The string without enclosing white space.
    package var trimmed: String {
        // Looking up the properties of scalars would take longer than all else, for nearly every text.
        if let first = utf8.first, let last = utf8.last, Self.isVisible(first), Self.isVisible(last) { return self }
        let scalars = unicodeScalars
        guard let first = scalars.firstIndex(where: { !$0.properties.isWhitespace }),
            let last = scalars.lastIndex(where: { !$0.properties.isWhitespace })
        else { return "" }
        let end = scalars.index(after: last)
        return first == scalars.startIndex && end == scalars.endIndex ? self : String(scalars[first..<end])
    }

    /// Whether the string has only white space.
    package var isBlank: Bool {
        if let first = utf8.first, Self.isVisible(first) { return false }
        return unicodeScalars.allSatisfy(\.properties.isWhitespace)
    }

    /// Whether a byte is a character of ASCII, and no white space.
    private static func isVisible(_ byte: UInt8) -> Bool { (0x21...0x7E).contains(byte) }
}
