import KalijHTTP
import KalijTransport

/// Google's service: FCM HTTP v1 with a service account.
public final class FCMProvider: PushProvider {
    private let settings: FCMSettings
    private let account: ServiceAccount
    private let access: FCMAccess
    private var client: HTTPClient?
    public var credentialsEnd: Int64? { nil }
    public private(set) var serviceEnd: Int64?

    /// Reads the service account.
    /// - Parameter notice: takes a line about connections.
    /// - Throws: `SettingsError` if the service account is unusable.
    public init(
        loop: EventLoop, settings: FCMSettings, key path: String, notice: @escaping (String) -> Void
    ) throws(SettingsError) {
        self.settings = settings
        account = try ServiceAccount(file: settings.secretPath, key: path + ".fcmSecretPath")
        access = FCMAccess(
            loop: loop, account: account, caFile: settings.endpoint?.caFile,
            timeout: Double(settings.request) / 1000, notice: notice)
        let host = settings.endpoint?.host ?? "fcm.googleapis.com"
        var limits = HTTPLimits()
        limits.idle = Double(settings.idle) / 1000
        limits.backoff = PushConnection.backoff
        limits.connections = settings.connections
        client = HTTPClient(
            loop: loop, origin: HTTPOrigin(host: host, port: settings.endpoint?.port ?? 443),
            tls: TLSSettings(serverName: host, caFile: settings.endpoint?.caFile), limits: limits
        ) { [weak self] event in
            switch event {
            case .connected(let notAfter): self?.serviceEnd = notAfter
            case .goAway: break
            case .failed(let reason): notice("no connection to Google: \(reason)")
            }
        }
    }

    public var connections: Int { client?.openConnections ?? 0 }

    public func close() {
        client?.close()
        access.close()
    }

    public func send(_ delivery: Delivery, _ done: @escaping (Verdict) -> Void) {
        access.token(fresh: delivery.needsFreshCredentials) { [weak self] result in
            switch result {
            case .failure(let refusal): done(refusal.verdict)
            case .success(let token): self?.post(delivery, token, done)
            }
        }
    }

    private func post(_ delivery: Delivery, _ token: String, _ done: @escaping (Verdict) -> Void) {
        let android = JSONValue.object([
            "priority": .string(delivery.isBackground ? "normal" : "high"),
            "ttl": .string("\(settings.expiration / 1000)s"),
        ])
        let message = JSONValue.object([
            "message": .object(["token": .string(delivery.token), "data": .object([:]), "android": android])
        ])
        let request = HTTPRequest(
            path: "/v1/projects/\(account.project)/messages:send",
            fields: [HTTPField("authorization", "Bearer " + token), HTTPField("content-type", "application/json")],
            body: message.bytes)
        client?.perform(request, timeout: Double(settings.request) / 1000) { outcome in
            switch outcome {
            case .success(let response): done(FCMVerdict.of(response))
            case .failure(let failure): done(Verdict(failure))
            }
        }
    }
}
