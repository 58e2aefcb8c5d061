/// A table of keys in 256 parts: neither growing nor searching takes long at a time, so a million entries hold up
/// nobody.
struct HashedTable<Value: Sendable>: Sendable {
    private var parts: [[HashedKey: Value]] = Array(repeating: [:], count: Self.partCount)
    /// The part with which ``removePart(where:)`` continues.
    private var next = 0
    private(set) var count = 0

    static var partCount: Int { 256 }

    // Keys are keyed hashes, so the parts have the same size.
    private static func part(of key: HashedKey) -> Int { Int(truncatingIfNeeded: key.high >> 56) }

    subscript(key: HashedKey) -> Value? {
        get { parts[Self.part(of: key)][key] }
        set {
            let part = Self.part(of: key)
            let before = parts[part].count
            parts[part][key] = newValue
            count += parts[part].count - before
            if newValue == nil { release(part) }
        }
    }

    /// Changes the value of a key in place.
    /// - Returns: the result of `body`; nil if there is no such key.
    mutating func update<Result>(_ key: HashedKey, _ body: (inout Value) -> Result) -> Result? {
        let part = Self.part(of: key)
        guard let index = parts[part].index(forKey: key) else { return nil }
        return body(&parts[part].values[index])
    }

    /// The entries of a part.
    func part(_ number: Int) -> [HashedKey: Value] { parts[number] }

    /// The least entry of the key's part of the table, or of the next part with entries.
    func minimum(near key: HashedKey, by order: (Value) -> Int64) -> (key: HashedKey, order: Int64)? {
        for distance in 0..<Self.partCount {
            let part = parts[(Self.part(of: key) + distance) % Self.partCount]
            if let least = part.min(by: { order($0.value) < order($1.value) }) {
                return (least.key, order(least.value))
            }
        }
        return nil
    }

    /// Removes the entries chosen by `isOver` from the next part.
    /// - Returns: whether a round through all parts is complete.
    mutating func removePart(where isOver: (HashedKey, Value) -> Bool) -> Bool {
        let over = parts[next].filter(isOver)
        for key in over.keys { parts[next][key] = nil }
        count -= over.count
        release(next)
        next = (next + 1) % Self.partCount
        return next == 0
    }

    /// Gives back the memory of a formerly large part.
    private mutating func release(_ part: Int) {
        if parts[part].isEmpty, parts[part].capacity > 16 { parts[part] = [:] }
    }
}
