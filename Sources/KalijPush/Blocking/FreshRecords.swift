/// Names a record of one of the two tables.
struct SharedKey: Hashable, Sendable {
    var key: HashedKey
    var isDomain: Bool
}

/// New records of this node, waiting for the budget. Only so many: the others are found in the tables again.
struct FreshRecords: Sendable {
    private static let limit = 10_000

    var isEnabled = false { didSet { if !isEnabled { keys = FIFO() } } }
    private(set) var keys = FIFO<SharedKey>()
    /// Whether records are waiting that are not in the list.
    var hasMore = false

    mutating func add(_ key: SharedKey) {
        guard isEnabled else { return }
        if keys.count < Self.limit { keys.append(key) } else { hasMore = true }
    }

    mutating func removeFirst() { keys.removeFirst() }
}
