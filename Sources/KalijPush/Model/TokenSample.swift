/// The token that a provider's answer is about.
public struct TokenSample: Sendable {
    var key: HashedKey
    /// The registered name of the domain; nil for pushes of an earlier process.
    var owner: HashedKey?
    /// Whether a push to the token has succeeded lately: nobody can invent such a token.
    var isKnown: Bool
}

/// Owners of domains with a success in the last day: as many as count, and no more.
struct RecentOwners: Sendable {
    private static let maxOwners = 3
    private var owners: [HashedKey: Milliseconds] = [:]

    mutating func add(_ owner: HashedKey, now: Milliseconds) {
        if owners[owner] == nil, owners.count >= Self.maxOwners {
            guard let oldest = owners.min(by: { $0.value < $1.value }), now - oldest.value >= 86_400_000 else { return }
            owners[oldest.key] = nil
        }
        owners[owner] = now
    }

    func count(now: Milliseconds) -> Int { owners.values.count { now - $0 < 86_400_000 } }
}
