extension String {
    /// The string without enclosing white space.
    package var trimmed: String {
        let scalars = unicodeScalars
        guard let first = scalars.firstIndex(where: { !$0.properties.isWhitespace }),
            let last = scalars.lastIndex(where: { !$0.properties.isWhitespace })
        else { return "" }
        let end = scalars.index(after: last)
        return first == scalars.startIndex && end == scalars.endIndex ? self : String(scalars[first..<end])
    }
}
