/// Pushes by their ids, with the places of each owner of domains.
struct PushTable: Sendable {
    /// Pushes of an earlier process share the places of one owner.
    private static let nobody = HashedKey(high: 0, low: 0)

    private var flights: [UInt64: InFlightPush] = [:]
    private var places: FairQuota

    init(limit: Int) { places = FairQuota(limit: limit) }

    var count: Int { flights.count }
    var limit: Int {
        get { places.limit }
        set { places.limit = newValue }
    }

    var isFull: Bool { count >= limit }

    func hasRoom(for owner: HashedKey?) -> Bool { places.hasRoom(for: owner ?? Self.nobody) }

    subscript(id: UInt64) -> InFlightPush? {
        get { flights[id] }
        set {
            let old = flights.updateOrRemove(id, newValue)
            if let old { places.release(back: old.owner ?? Self.nobody) }
            if let newValue { places.acquire(newValue.owner ?? Self.nobody) }
        }
    }

    mutating func removeValue(forKey id: UInt64) -> InFlightPush? {
        let flight = flights[id]
        if flight != nil { self[id] = nil }
        return flight
    }

    /// Changes a push in place; its owner stays.
    mutating func update(_ id: UInt64, _ body: (inout InFlightPush) -> Void) {
        guard let index = flights.index(forKey: id) else { return }
        body(&flights.values[index])
    }
}

extension Dictionary {
    fileprivate mutating func updateOrRemove(_ key: Key, _ value: Value?) -> Value? {
        guard let value else { return removeValue(forKey: key) }
        return updateValue(value, forKey: key)
    }
}
