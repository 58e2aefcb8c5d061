extension Query {
    /// How many arguments a query in a text takes: one for each of its `%` specifiers.
    ///
    /// - Parameter text: the query, as a user types it.
    /// - Throws: ``QuerySyntaxError`` if it is no query, or gives another type.
    public static func specifiers(in text: String) throws(QuerySyntaxError) -> Int {
        try QueryCache.shared.program(text: Array(text.utf8), for: Result.self).arguments
    }
}
