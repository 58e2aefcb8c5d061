import KalijText

/// Places in a list that strangers fill: each server has a share, so that the strangers of one server displace nobody of another.
package enum FairShare {
    /// The row that makes place for one more of `domain`, when all places are taken: the newest of the domain with the most rows.
    /// - Parameter domains: of the rows, the oldest first.
    /// - Returns: nil if the new row is rejected, because no domain has more rows than `domain` would have.
    package static func leaving(_ domains: [String], for domain: String) -> Int? {
        var counts: [ExactText: Int] = [:]
        for domain in domains { counts[domain.exact, default: 0] += 1 }
        let most = counts.values.max() ?? 0
        guard isSmaller(counts[domain.exact, default: 0], than: most) else { return nil }
        return domains.lastIndex { counts[$0.exact] == most }
    }

    /// Whether a domain with `count` rows has fewer than `most` with one more.
    package static func isSmaller(_ count: some BinaryInteger, than most: some BinaryInteger) -> Bool {
        count + 1 < most
    }
}
