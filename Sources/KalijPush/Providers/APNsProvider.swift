import Glibc
import KalijHTTP
import KalijTransport

/// Apple's service: HTTP/2 provider API, with a certificate (p12) or a key (p8).
public final class APNsProvider: PushProvider {
    private struct Claims: Encodable {
        var iss: String
        var iat: Int64
    }

    private struct Signer {
        var key: SigningKey
        var keyID: String
        var teamID: String
        var token = ""
        var signed: Int64 = 0
        /// When the token was last replaced because Apple had rejected it.
        var renewed: Int64 = 0
    }

    /// Bytes of a payload. Apple refuses a larger one, forevery device.
    private static let maxPayloadSize = 4_096

    private let settings: APNsSettings
    private var client: HTTPClient?
    private var signer: Signer?
    private let alert: [UInt8]
    private let background: [UInt8]
    public let credentialsEnd: Int64?
    public private(set) var serviceEnd: Int64?

    /// Reads certificate or key.
    /// - Parameter notice: takes a line about connections.
    /// - Throws: `SettingsError` if the certificate or the key is unusable.
    public init(
        loop: EventLoop, settings: APNsSettings, key path: String, notice: @escaping (String) -> Void
    ) throws(SettingsError) {
        self.settings = settings
        var identity: TLSIdentity?
        switch settings.credentials {
        case .certificate(let file, let password):
            identity = try Self.readIdentity(file, password, path + ".certFilePath")
        case .key(let file, let keyID, let teamID):
            signer = Signer(
                key: try SigningKey.es256(inFile: file, key: path + ".keyFilePath", wanted: "Apple wants a P-256 key"),
                keyID: keyID, teamID: teamID)
        }
        credentialsEnd = identity?.notAfter
        alert = Self.payload(
            .object([
                "alert": .object(["title": .string(settings.title), "body": .string(settings.body)]),
                "mutable-content": .integer(1), "sound": .string("default"),
            ]), settings.additionalData)
        background = Self.payload(.object(["content-available": .integer(1)]), settings.additionalData)
        guard max(alert.count, background.count) <= Self.maxPayloadSize else {
            throw SettingsError(path, "a payload has \(alert.count) bytes, and Apple takes \(Self.maxPayloadSize)")
        }
        let host = settings.endpoint?.host ?? (settings.isSandbox ? "api.sandbox.push.apple.com" : "api.push.apple.com")
        var limits = HTTPLimits()
        limits.idle = Double(settings.idle) / 1000
        limits.backoff = PushConnection.backoff
        limits.connections = settings.connections
        client = HTTPClient(
            loop: loop, origin: HTTPOrigin(host: host, port: settings.endpoint?.port ?? 443),
            tls: TLSSettings(serverName: host, caFile: settings.endpoint?.caFile, identity: identity), limits: limits
        ) { [weak self] in self?.happened($0, notice) }
    }

    public var connections: Int { client?.openConnections ?? 0 }
    public func close() { client?.close() }

    public func send(_ delivery: Delivery, _ done: @escaping (Verdict) -> Void) {
        let now = Int64(time(nil))
        var fields = [
            HTTPField("apns-topic", settings.topic),
            HTTPField("apns-push-type", delivery.isBackground ? "background" : "alert"),
            HTTPField("apns-priority", delivery.isBackground ? "5" : "10"),
            HTTPField("apns-expiration", "\(now + settings.expiration / 1000)"),
        ]
        if let collapseID = settings.collapseID { fields.append(HTTPField("apns-collapse-id", collapseID)) }
        if let token = providerToken(now, fresh: delivery.needsFreshCredentials) {
            fields.append(HTTPField("authorization", "bearer " + token))
        }
        // Tokens are hexadecimal: no character has a meaning in a path.
        let request = HTTPRequest(
            path: "/3/device/" + delivery.token, fields: fields,
            body: delivery.isBackground ? background : alert)
        client?.perform(request, timeout: Double(settings.request) / 1000) { outcome in
            switch outcome {
            case .success(let response): done(APNsVerdict.of(response))
            case .failure(let failure): done(Verdict(failure))
            }
        }
    }

    /// Apple requires that a token is used for 20 to 60 minutes, and refuses more frequent signing.
    private func providerToken(_ now: Int64, fresh: Bool) -> String? {
        guard var signer else { return nil }
        // A clock that was set back counts as an expired token.
        let isOver = signer.token.isEmpty || !(0...50 * 60).contains(now - signer.signed)
        // Many requests may be rejected for the expired token at once, and with a wrong clock each request is rejected again.
        let isRefused = fresh && !(0..<20 * 60).contains(now - signer.renewed)
        if isOver || isRefused {
            if isRefused { signer.renewed = now }
            let claims = Claims(iss: signer.teamID, iat: now)
            if let token = try? JSONWebToken.sign(claims, with: signer.key, keyID: signer.keyID) {
                signer.token = token
                signer.signed = now
                self.signer = signer
            }
        }
        return signer.token
    }

    private func happened(_ event: HTTPNotice, _ notice: (String) -> Void) {
        switch event {
        case .connected(let notAfter): serviceEnd = notAfter
        case .goAway(let reason): if !reason.isEmpty { notice("Apple closes a connection: \(reason)") }
        case .failed(let reason): notice("no connection to Apple: \(reason)")
        }
    }

    private static func payload(_ aps: JSONValue, _ data: [String: JSONValue]) -> [UInt8] {
        JSONValue.object(data.merging(["aps": aps]) { _, ours in ours }).bytes
    }

    private static func readIdentity(
        _ file: String, _ password: String, _ key: String
    ) throws(SettingsError) -> TLSIdentity {
        let bytes = try File.read(file, key: key)
        do throws(TLSIdentity.Problem) {
            return try TLSIdentity(pkcs12: bytes, password: password)
        } catch {
            throw SettingsError(key, "\(file): \(error)")
        }
    }
}
