import KalijHTTP
import KalijTransport
import KalijWebPush

/// Push services that devices name: Web Push (RFC 8030), encrypted for the device.
///
/// An endpoint is named by a stranger. Only public addresses are connected to, nothing of a response but its status is used, and
/// each service has its own connections and its own health: its behaviour affects its own devices alone.
public final class WebPushProvider: PushProvider {
    /// The message for the device. Every body has the same size.
    private static let message = Array("look".utf8)
    private static let bodySize = 128
    /// Services without a connection that are connected to at the same time.
    private static let connecting = 256

    private let loop: EventLoop
    private let settings: WebPushSettings
    private let key: SigningKey
    private let hasher: KeyHasher
    private let resolver: Resolver
    private let notice: (String) -> Void
    private let ownServices: [String: WebPushSettings.OwnService]  // characters: by origins, which are ASCII.
    private var table: PushServiceTable
    private var rareNotices = RareNotices()
    private var isClosed = false

    public var credentialsEnd: Int64? { nil }
    public var serviceEnd: Int64? { nil }

    /// Reads the key.
    /// - Parameter notice: takes a line about a service that does not accept the server's pushes.
    /// - Throws: `SettingsError` if the key is unusable.
    public init(
        loop: EventLoop, settings: WebPushSettings, key path: String, notice: @escaping (String) -> Void
    ) throws(SettingsError) {
        self.loop = loop
        self.settings = settings
        self.notice = notice
        key = try SigningKey.es256(
            inFile: settings.keyPath, key: path + ".keyFilePath", wanted: "a P-256 key is wanted")
        // Only for comparing in this process.
        let secret = (0..<32).map { _ in UInt8.random(in: 0...255) }
        do {
            hasher = try KeyHasher(secret: secret)
        } catch {
            throw SettingsError(path, "OpenSSL cannot hash")
        }
        resolver = Resolver(loop: loop)
        let origins = settings.ownServices.map { ("https://\($0.host)" + ($0.port == 443 ? "" : ":\($0.port)"), $0) }
        ownServices = Dictionary(origins) { first, _ in first }
        table = PushServiceTable(limit: settings.services, connecting: Self.connecting)
    }

    /// The public key, which devices give to their push service (`applicationServerKey`, `vapid`).
    public var publicKey: [UInt8] { key.publicPoint ?? [] }

    public var connections: Int { table.all.reduce(0) { $0 + $1.connections } }

    public var services: ServiceFigures? {
        let now = loop.now
        return ServiceFigures(
            known: table.count, resting: table.all.count { $0.health.isResting(now: now) },
            held: table.all.count { $0.health.isHeld(now: now) })
    }

    public func close() {
        isClosed = true
        table.closeAll()
    }

    public func send(_ delivery: Delivery, _ done: @escaping (Verdict) -> Void) {
        func end(_ verdict: Verdict) { loop.enqueue { done(verdict) } }
        guard let device = try? PushSubscription(delivery.token) else { return end(.unaccepted("no subscription")) }
        guard !isClosed else { return end(.transient("closed by us")) }
        guard isAllowed(device.endpoint) else { return end(.unaccepted("the port is not allowed")) }
        guard let service = service(of: device.endpoint) else { return end(.transient("too many push services")) }
        let now = loop.now
        service.used = now
        switch service.health.gate(now: now) {
        case .held(let wait): return end(.tooMany(.token, retryAfter: wait))
        case .shut(let reason): return end(.transient(reason))
        case .open: break
        }
        guard table.mayConnect(service) else { return end(.transient("too many push services are being connected to")) }
        post(delivery, to: device, at: service, done)
    }

    private func post(
        _ delivery: Delivery, to device: PushSubscription, at service: PushService, _ done: @escaping (Verdict) -> Void
    ) {
        let fields = [
            HTTPField("ttl", "\(settings.expiration / 1000)"),
            HTTPField("urgency", delivery.isBackground ? "normal" : "high"),
            // The newest push replaces the one that waits (RFC 8030, 5.4).
            HTTPField("topic", "look"), HTTPField("content-encoding", "aes128gcm"),
            HTTPField("content-type", "application/octet-stream"),
        ]
        service.health.sent()
        do {
            let body = try PushMessage.encrypt(Self.message, for: device, size: Self.bodySize)
            try service.post(
                device.endpoint.path, fields: fields, body: body, timeout: Double(settings.request) / 1000
            ) { [weak self] verdict in
                if let self { ended(verdict, service, device.endpoint) }
                done(verdict)
            }
        } catch {
            service.health.ended(.unaccepted(""), now: loop.now)
            loop.enqueue { done(.unaccepted("OpenSSL cannot encrypt or sign")) }
        }
    }

    private func ended(_ verdict: Verdict, _ service: PushService, _ endpoint: PushEndpoint) {
        service.health.ended(verdict, now: loop.now)
        guard case .unaccepted(let words) = verdict, rareNotices.isNew(service.owner, now: loop.now) else { return }
        notice("the push service \(endpoint.host) answers \(words)")
    }

    // MARK: Services

    private func own(_ endpoint: PushEndpoint) -> WebPushSettings.OwnService? {
        ownServices[endpoint.origin]
    }

    private func isAllowed(_ endpoint: PushEndpoint) -> Bool {
        endpoint.port == 443 || settings.ports.contains(endpoint.port) || own(endpoint) != nil
    }

    private func service(of endpoint: PushEndpoint) -> PushService? {
        if let service = table.service(of: endpoint) { return service }
        // Names of one owner share the places.
        let owner = hasher.key(domain: RegistrableDomain.of(endpoint.host))
        guard table.makeRoom(for: owner) else { return nil }
        let service = PushService(
            endpoint, owner: owner, key: key, contact: settings.contact, client: makeClient(endpoint))
        table.add(service, of: endpoint)
        return service
    }

    private func makeClient(_ endpoint: PushEndpoint) -> HTTPClient {
        let own = own(endpoint)
        var limits = HTTPLimits()
        limits.idle = Double(settings.idle) / 1000
        limits.backoff = PushConnection.backoff
        limits.connections = settings.connections
        limits.version1 = true
        limits.addresses = own == nil ? .publicOnes : .all
        limits.streams = 100
        // The content of a response is ignored.
        (limits.bodyBytes, limits.fieldBytes, limits.windowBytes) = (4_096, 8_192, 65_535)
        let seconds = Double(settings.request) / 1000
        (limits.connecting.names, limits.connecting.tcp) = (seconds, seconds)
        (limits.connecting.tls, limits.connecting.wholeTLS) = (seconds, seconds)
        limits.connecting.alternatives = 4
        return HTTPClient(
            loop: loop, origin: HTTPOrigin(host: endpoint.host, port: endpoint.port, address: own?.address),
            tls: TLSSettings(serverName: endpoint.host, caFile: own?.caFile), limits: limits, resolver: resolver)
    }
}

/// Lines about strangers: one an hour about an owner, and 20 an hour in all.
struct RareNotices {
    private static let maxPerHour = 20
    private var reported: Set<HashedKey> = []
    private var since = 0.0

    mutating func isNew(_ owner: HashedKey, now: Double) -> Bool {
        if now - since >= 3_600 { (reported, since) = ([], now) }
        return reported.count < Self.maxPerHour && reported.insert(owner).inserted
    }
}
