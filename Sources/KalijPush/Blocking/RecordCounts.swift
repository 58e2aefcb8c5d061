/// How many records of a table are whose, and a digest of each node's.
struct RecordCounts: Sendable {
    struct Share: Sendable {
        var count = 0
        /// All records' 64 bits, added without carry: the order does not matter.
        var digest: UInt64 = 0
    }

    private var shares: [Share] = [Share()]
    /// This node's records that may be shared.
    private(set) var admitted = 0

    subscript(origin: UInt16) -> Share { Int(origin) < shares.count ? shares[Int(origin)] : Share() }

    mutating func add(_ key: HashedKey, _ entry: TokenBlocklist.Entry) { count(key, entry, 1) }
    mutating func remove(_ key: HashedKey, _ entry: TokenBlocklist.Entry) { count(key, entry, -1) }

    private mutating func count(_ key: HashedKey, _ entry: TokenBlocklist.Entry, _ one: Int) {
        let index = Int(entry.origin)
        while shares.count <= index { shares.append(Share()) }
        shares[index].count += one
        shares[index].digest ^= key.low ^ (entry.version &* 0x9e37_79b9_7f4a_7c15)
        if entry.shared & TokenBlocklist.admittedBit != 0 { admitted += one }
    }
}
