/// Places of something bounded, shared by owners: nobody uses more places than are still free.
///
/// One owner alone has half of the places, n busy owners have a part of n + 1 each, and a newcomer always finds a
/// place (dynamic thresholds: Choudhury and Hahne, 1998). Places already taken are never taken away.
struct FairQuota: Sendable {
    var limit: Int
    private(set) var count = 0
    private var used: [HashedKey: Int] = [:]

    init(limit: Int) { self.limit = limit }

    /// Whether an owner may have another place.
    func hasRoom(for owner: HashedKey) -> Bool { used[owner, default: 0] < limit - count }

    func isUnused(by owner: HashedKey) -> Bool { used[owner] == nil }

    mutating func acquire(_ owner: HashedKey) {
        count += 1
        used[owner, default: 0] += 1
    }

    mutating func release(back owner: HashedKey) {
        guard let places = used[owner] else { return }
        count -= 1
        used[owner] = places > 1 ? places - 1 : nil
    }
}
