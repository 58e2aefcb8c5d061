extension Query {
    /// How many arguments a query in a text takes: one for each `%` specifier.
    ///
    /// - Parameter text: The query, as typed by a user.
    /// - Throws: ``QuerySyntaxError`` if the text is not a query, or the query gives another type.
    public static func specifiers(in text: String) throws(QuerySyntaxError) -> Int {
        let bytes = Array(text.utf8)
        try requireNoHole(in: bytes)
        return try QueryCache.shared.program(text: bytes, for: Result.self).arguments
    }

    /// - Throws: The error in a query from text with the mark of an interpolated value: text has no interpolated
    ///   values.
    static func requireNoHole(in bytes: [UInt8]) throws(QuerySyntaxError) {
        guard let place = bytes.firstIndex(of: QueryParser.hole) else { return }
        throw QuerySyntaxError(
            query: String(decoding: bytes, as: UTF8.self),
            column: String(decoding: bytes[..<place], as: UTF8.self).count + 1,
            problem: "expected a query without U+0000")
    }
}
