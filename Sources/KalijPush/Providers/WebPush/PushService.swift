import Glibc
import KalijHTTP
import KalijTransport
import KalijWebPush

/// A push service: a host with its port, with connections, a health and a signature of its own.
final class PushService {
    let owner: HashedKey
    private let client: HTTPClient
    private let contact: String
    private let key: SigningKey
    private let origin: String
    private var authorization = ""
    private var signed: Int64 = 0
    var health = ServiceHealth()
    /// On the loop's clock.
    var used = 0.0

    /// A signature is valid for twelve hours (RFC 8292, 2: a day at most), and used for six.
    private static let validity: Int64 = 12 * 3600

    /// - Parameter owner: who has registered the host's domain.
    init(
        _ endpoint: PushEndpoint, owner: HashedKey, key: SigningKey, contact: String, client: HTTPClient
    ) {
        (self.owner, self.client, self.key, self.contact) = (owner, client, key, contact)
        origin = endpoint.origin
    }

    var connections: Int { client.openConnections }

    func close() { client.close() }

    func post(
        _ path: String, fields: [HTTPField], body: [UInt8], timeout: Double, _ done: @escaping (Verdict) -> Void
    ) throws {
        let fields = [HTTPField("authorization", try currentAuthorization())] + fields
        let request = HTTPRequest(path: path, fields: fields, body: body)
        client.perform(request, timeout: timeout) { outcome in
            switch outcome {
            case .success(let response): done(WebPushVerdict.of(response))
            case .failure(let failure): done(WebPushVerdict.of(failure))
            }
        }
    }

    private func currentAuthorization() throws -> String {
        let now = Int64(time(nil))
        // A clock that was set back counts as an expired signature.
        if authorization.isEmpty || !(0...Self.validity / 2).contains(now - signed) {
            authorization = try VAPIDToken.authorization(
                audience: origin, expires: now + Self.validity, contact: contact, key: key)
            signed = now
        }
        return authorization
    }
}
