import KalijText

/// Everything that is needed to push to a device, in one text: the pubsub node of the device's registration.
///
///     https://push.example.net/p/JzLQ3raZ#p256dh=BCVx...;auth=BTBZ...
///
/// The endpoint as the push service gives it, and behind `#` the device's public key and secret as RFC 8291 and the Push API name and
/// encode them, with a semicolon between them: the text needs no escaping in XML. A fragment is never sent in a request, so that the text is
/// also an address that leads to the endpoint.
public struct PushSubscription: Sendable, Hashable {
    /// Why a text is no subscription.
    public enum Fault: Error, Sendable, Hashable, CustomStringConvertible {
        case tooLong
        case endpoint(PushEndpoint.Fault)
        /// There is not one `#p256dh=...;auth=...` behind the endpoint.
        case form
        /// `p256dh` is no point of P-256 in uncompressed form.
        case key
        /// `auth` does not have 16 bytes.
        case secret

        public var description: String {
            switch self {
            case .tooLong: "the subscription has more than \(PushSubscription.limit) bytes"
            case .endpoint(let fault): fault.description
            case .form: "the subscription is not ENDPOINT#p256dh=KEY;auth=SECRET"
            case .key: "p256dh is no public key on P-256 in base64url without padding"
            case .secret: "auth is not 16 bytes in base64url without padding"
            }
        }
    }

    /// Of the text, in bytes.
    public static let limit = 1_000
    private static let keyName = "p256dh="
    private static let secretName = ";auth="

    public let endpoint: PushEndpoint
    /// The device's public key: a point on P-256, 65 bytes.
    public let publicKey: [UInt8]
    /// The secret of device and sender, 16 bytes.
    public let secret: [UInt8]

    /// - Throws: ``Fault``.
    public init(endpoint: PushEndpoint, publicKey: [UInt8], secret: [UInt8]) throws(Fault) {
        guard P256Key.isPoint(publicKey) else { throw .key }
        guard secret.count == 16 else { throw .secret }
        self.endpoint = endpoint
        self.publicKey = publicKey
        self.secret = secret
    }

    /// - Throws: ``Fault``.
    public init(_ text: String) throws(Fault) {
        guard text.utf8.count <= Self.limit else { throw .tooLong }
        guard let hash = text.utf8.firstIndex(of: UInt8(ascii: "#")) else { throw .form }
        let fragment = text[text.utf8.index(after: hash)...]
        guard fragment.utf8.starts(with: Self.keyName.utf8),
            let between = fragment.utf8.firstIndex(of: UInt8(ascii: ";")),
            fragment[between...].utf8.starts(with: Self.secretName.utf8)
        else { throw .form }
        let key = fragment[..<between].utf8.dropFirst(Self.keyName.utf8.count)
        let secret = fragment[between...].utf8.dropFirst(Self.secretName.utf8.count)
        let endpoint: PushEndpoint
        do throws(PushEndpoint.Fault) {
            endpoint = try PushEndpoint(text[..<hash])
        } catch {
            throw .endpoint(error)
        }
        guard let publicKey = Base64URL.decode(Substring(key)) else { throw .key }
        guard let secretBytes = Base64URL.decode(Substring(secret)) else { throw .secret }
        try self.init(endpoint: endpoint, publicKey: publicKey, secret: secretBytes)
    }

    /// The one spelling of this subscription.
    public var text: String {
        endpoint.text + "#" + Self.keyName + Base64URL.encode(publicKey) + Self.secretName + Base64URL.encode(secret)
    }
}
