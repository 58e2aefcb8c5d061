extension Query {
    /// How many arguments a query in a text takes: one for each of its `%` specifiers.
    ///
    /// - Parameter text: the query, as a user types it.
    /// - Throws: ``QuerySyntaxError`` if it is no query, or gives another type.
    public static func specifiers(in text: String) throws(QuerySyntaxError) -> Int {
        let bytes = Array(text.utf8)
        try requireNoHole(in: bytes)
        return try QueryCache.shared.program(text: bytes, for: Result.self).arguments
    }

    /// - Throws: what is wrong with a query from text that holds the mark of an interpolated value, which it has none of.
    static func requireNoHole(in bytes: [UInt8]) throws(QuerySyntaxError) {
        guard let place = bytes.firstIndex(of: QueryParser.hole) else { return }
        throw QuerySyntaxError(
            query: String(decoding: bytes, as: UTF8.self),
            column: String(decoding: bytes[..<place], as: UTF8.self).count + 1,
            problem: "expected a query without U+0000")
    }
}
