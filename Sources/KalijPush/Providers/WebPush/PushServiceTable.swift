import KalijWebPush

/// The push services in use, with bounds that a stranger with many names cannot exhaust: an owner of domains has no more places
/// than are free, and a service without a push in flight makes room for another.
struct PushServiceTable {
    private struct Name: Hashable {
        let host: String
        let port: UInt16
    }

    private let limit: Int
    private var services: [Name: PushService] = [:]
    private var places: FairQuota
    /// The limit for services without a connection and with pushes in flight: each has sockets and DNS queries.
    private let connecting: Int

    /// - Parameters:
    ///   - limit: how many services are remembered.
    ///   - connecting: how many of them may be without a connection while pushes wait for one.
    init(limit: Int, connecting: Int) {
        (self.limit, self.connecting) = (limit, connecting)
        places = FairQuota(limit: limit)
    }

    var count: Int { services.count }
    var all: some Collection<PushService> { services.values }

    func service(of endpoint: PushEndpoint) -> PushService? {
        services[Name(host: endpoint.host, port: endpoint.port)]
    }

    /// Makes room for a service of an owner, and closes another for it if there has to be.
    /// - Returns: false if all places that the owner may have are busy.
    mutating func makeRoom(for owner: HashedKey) -> Bool {
        // Services of the same owner are closed first: many names of one owner displace nobody else.
        if !places.hasRoom(for: owner), !close(where: { $0.owner == owner }) {
            guard places.count >= limit, places.isUnused(by: owner) else { return false }
        }
        return places.count < limit || close(where: { _ in true })
    }

    mutating func add(_ service: PushService, of endpoint: PushEndpoint) {
        services[Name(host: endpoint.host, port: endpoint.port)] = service
        places.acquire(service.owner)
    }

    /// Closes the service of a kind that has been idle for longest.
    private mutating func close(where isOfKind: (PushService) -> Bool) -> Bool {
        let idle = services.filter { $0.value.health.inFlight == 0 && isOfKind($0.value) }
        guard let oldest = idle.min(by: { $0.value.used < $1.value.used }) else { return false }
        oldest.value.close()
        services[oldest.key] = nil
        places.release(back: oldest.value.owner)
        return true
    }

    /// Whether another service of an owner may connect.
    func mayConnect(_ service: PushService) -> Bool {
        if service.connections > 0 || service.health.inFlight > 0 { return true }
        var (all, own) = (0, 0)
        for other in services.values where other.health.inFlight > 0 && other.connections == 0 {
            all += 1
            if other.owner == service.owner { own += 1 }
        }
        return own < connecting - all
    }

    func closeAll() { for service in services.values { service.close() } }
}
