extension String {
    /// Whether the other word differs from this one by a missing, added or changed character, or by two exchanged neighbours.
    public func isAlmost(_ other: String) -> Bool {
        let (long, short) = count < other.count ? (Array(other), Array(self)) : (Array(self), Array(other))
        guard long.count > 2, long.count - short.count <= 1 else { return false }
        let start = zip(long, short).prefix { $0 == $1 }.count
        let (longer, shorter) = (long[start...], short[start...])
        if long.count > short.count { return longer.dropFirst() == shorter }
        return longer.dropFirst() == shorter.dropFirst()
            || longer.prefix(2).reversed() == Array(shorter.prefix(2)) && longer.dropFirst(2) == shorter.dropFirst(2)
    }
}
