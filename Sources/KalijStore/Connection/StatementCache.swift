/// Prepared statements, by the addresses of their texts.
///
/// A statement takes some kilobytes. Many are used once in a session, and a process that kept all would hold most of them for
/// nothing: a statement that was not used in the last 512 to 1,024 uses is finalized.
struct StatementCache {
    private var recent: [UInt: Statement] = [:]
    private var earlier: [UInt: Statement] = [:]
    private var uses = 0
    /// Some of the recent ones, by the lowest bits of their addresses: found without a hash.
    private var near = [(key: UInt, statement: Statement)?](repeating: nil, count: places)
    private static let places = 64

    /// More uses than any step needs for all of its statements, so that nothing is prepared again and again.
    private static let generation = 512

    /// The statement for the text at `key`, made by `prepare` if it is not here.
    mutating func statement<Failure>(
        _ key: UInt, _ prepare: () throws(Failure) -> Statement
    ) throws(Failure) -> Statement {
        uses += 1
        if uses == Self.generation {
            (earlier, recent, uses) = (recent, [:], 0)
            near = [(key: UInt, statement: Statement)?](repeating: nil, count: Self.places)
        }
        // Texts begin at multiples of 16.
        let place = Int(truncatingIfNeeded: key >> 4 ^ key >> 10) & (Self.places - 1)
        if let known = near[place], known.key == key { return known.statement }
        let statement = try find(key, prepare)
        near[place] = (key, statement)
        return statement
    }

    private mutating func find<Failure>(
        _ key: UInt, _ prepare: () throws(Failure) -> Statement
    ) throws(Failure) -> Statement {
        if let statement = recent[key] { return statement }
        let statement = if let known = earlier.removeValue(forKey: key) { known } else { try prepare() }
        recent[key] = statement
        return statement
    }
}

/// The prepared statements of a connection. A text of an application's may be the very bytes of one of Kalij's: the linker keeps equal texts
/// once.
struct StatementCaches {
    var own = StatementCache()
    var applications = StatementCache()
}
