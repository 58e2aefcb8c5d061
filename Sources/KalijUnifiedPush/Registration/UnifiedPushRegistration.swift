import KalijText
import KalijWebPush

/// The registration of an account's device at a distributor, with the keys that pushes are encrypted with.
public struct UnifiedPushRegistration: Sendable, Equatable, Codable {
    /// The address of the account.
    public let account: String
    /// The distributor's name on the bus.
    public let distributor: String
    /// Identifies the registration; a secret of distributor and connector.
    public let token: String
    /// The address of the push component.
    public var service: String
    /// The component's module.
    public var module: String?
    /// The public key of the sender in base64url, for the push service.
    public var vapid: String?
    /// What a push starts; nil for `kalij wake`.
    public var command: String?
    /// The version of the distributor's interface.
    public var version = Distributor.Version.second
    /// The endpoint that push was enabled with; nil before the first.
    public var endpoint: String?
    /// Whether the account's push was seen to be this registration's.
    public var isConfirmed = false

    private let privateKey: String
    private let publicKey: String
    private let secret: String
    /// The salts of the last messages, newest last.
    private var salts: [String] = []
    /// The time of the last look for a message that is not ours, in milliseconds since 1970.
    private var strayAt: Int64?

    /// Makes token and keys.
    /// - Throws: `P256Key.Problem` if OpenSSL fails.
    public init(account: String, distributor: Distributor, service: String) throws {
        let key = try P256Key()
        (self.account, self.distributor, self.service) = (account, distributor.name, service)
        token = Base64URL.encode(Self.random(24))
        privateKey = Base64URL.encode(key.privateKey)
        publicKey = Base64URL.encode(key.publicKey)
        secret = Base64URL.encode(Self.random(16))
    }

    private static func random(_ count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }

    /// What the distributor shows to the user.
    var summary: String { "XMPP, \(account)".cut(to: 100) }

    // MARK: The node

    /// The node of the account's registration for push (XEP-0357) with an endpoint of the distributor.
    /// - Throws: `PushSubscription.Fault` for an endpoint that no push server may use.
    public func node(for endpoint: String) throws(PushSubscription.Fault) -> String {
        let parsed: PushEndpoint
        do throws(PushEndpoint.Fault) { parsed = try PushEndpoint(endpoint) } catch { throw .endpoint(error) }
        guard let key = Base64URL.decode(publicKey) else { throw .key }
        guard let secret = Base64URL.decode(secret) else { throw .secret }
        let text = try PushSubscription(endpoint: parsed, publicKey: key, secret: secret).text
        guard text.utf8.count <= PushSubscription.limit else { throw .tooLong }
        return text
    }

    /// Whether a node has the key of this registration.
    public func isOwn(node: String) -> Bool {
        guard let subscription = try? PushSubscription(node) else { return false }
        return Base64URL.encode(subscription.publicKey) == publicKey
    }

    // MARK: Messages

    /// The number of messages that are recognized when they are repeated.
    static let memory = 64
    /// Between two looks for messages that are not ours, in milliseconds.
    static let strayInterval: Int64 = 600_000

    /// Whether a message is a reason to look for new messages at the XMPP server.
    ///
    /// What is not encrypted for this device, or was received before, may be anybody's: it counts once in ten minutes. It counts at all, because
    /// the keys of the device may have been replaced a moment ago.
    public mutating func isReason(_ body: [UInt8], at now: Int64) -> Bool {
        if isOurs(body) {
            let salt = Base64URL.encode(Array(body.prefix(16)))
            if !salts.contains(salt) {
                if salts.count >= Self.memory { salts.removeFirst() }
                salts.append(salt)
                return true
            }
        }
        if let strayAt, strayAt <= now, now - strayAt < Self.strayInterval { return false }
        strayAt = now
        return true
    }

    private func isOurs(_ body: [UInt8]) -> Bool {
        guard let number = Base64URL.decode(privateKey), let point = Base64URL.decode(publicKey),
            let secret = Base64URL.decode(secret), let key = try? P256Key(privateKey: number, publicKey: point)
        else { return false }
        return (try? PushMessage.decrypt(body, key: key, secret: secret)) != nil
    }
}
