import Glibc
import KalijText
import KalijWebPush
import Synchronization

/// A stand-in for a push service (RFC 8030) with its devices: a script decides the answers for a device.
public final class LabPushService: Sendable {
    /// A push that was accepted.
    public struct Push: Sendable {
        public var device: String
        public var fields: [String: String]
        /// As the device decrypts it; nil if the device cannot.
        public var text: String?
        public var size: Int
        /// Seconds since 1970.
        public var at: Double
    }

    private struct State {
        var scripts = LabScripts()
        var pushes: [Push] = []
        var taken = 0
        var signatures: Set<String> = []
    }

    private let state = Mutex(State())
    private let check: TokenCheck
    private let host: String
    private let key: P256Key
    private let secret = [UInt8](repeating: 9, count: 16)
    private let server = Mutex<LabServer?>(nil)

    /// - Parameters:
    ///   - publicKey: a PEM file, of the sender's key.
    ///   - host: as endpoints name it.
    ///   - keeps: whether pushes are decrypted and kept for ``pushes``.
    public init(_ options: LabServer.Options, publicKey: String, host: String, keeps: Bool = true) throws {
        check = try TokenCheck(publicKey: publicKey, algorithm: "ES256")
        self.host = host
        key = try P256Key()
        let started = try LabServer(options) { [weak self] in self?.answer($0, keeps: keeps) ?? .hangUp }
        server.withLock { $0 = started }
    }

    public var port: UInt16 { server.withLock { $0?.port ?? 0 } }
    public var connections: Int { server.withLock { $0?.connections ?? 0 } }
    public var pushes: [Push] { state.withLock { $0.pushes } }
    /// How many pushes were accepted, kept or not.
    public var taken: Int { state.withLock { $0.taken } }
    /// How many different signatures were shown.
    public var signatures: Int { state.withLock { $0.signatures.count } }

    /// Requests for a device so far.
    public func requests(for device: String) -> Int { state.withLock { $0.scripts.requests(for: device) } }

    /// The node of a subscription.
    /// - Parameter host: another name under which the service is reached.
    public func node(_ device: String, at host: String? = nil) -> String {
        let keys = "p256dh=\(Base64URL.encode(key.publicKey));auth=\(Base64URL.encode(secret))"
        return "https://\(host ?? self.host):\(port)/p/\(device)#\(keys)"
    }

    /// The replies to the next requests for a device; after the last reply, the standard reply.
    public func script(_ device: String, _ replies: LabReply...) {
        state.withLock { $0.scripts.set(replies, for: device) }
    }

    /// The reply forevery device without a script; nil for success.
    public func script(all reply: LabReply?) { state.withLock { $0.scripts.standard = reply } }

    public static func reply(_ status: Int, retryAfter: Int? = nil) -> LabReply {
        .respond(status: status, fields: retryAfter.map { [("retry-after", "\($0)")] } ?? [])
    }

    public func stop() {
        server.withLock { server in
            server?.stop()
            server = nil
        }
    }

    private func answer(_ request: LabRequest, keeps: Bool) -> LabReply {
        guard request.method == "POST", request.path.hasPrefix("/p/") else { return Self.reply(405) }
        if let refusal = refusal(request) { return refusal }
        let device = String(request.path.dropFirst(3))
        var push = Push(
            device: device, fields: request.fields, text: nil, size: request.body.count, at: LabAPNs.now())
        if keeps, let plain = try? PushMessage.decrypt(request.body, key: key, secret: secret) {
            push.text = String(decoding: plain, as: UTF8.self)
        }
        return state.withLock { state in
            if let reply = state.scripts.reply(for: device) { return reply }
            state.taken += 1
            if keeps { state.pushes.append(push) }
            return .respond(status: 201, fields: [("location", "https://\(host)/m/\(device)")])
        }
    }

    /// What a service checks before it looks up the device (RFC 8030, 5; RFC 8292, 4.2).
    private func refusal(_ request: LabRequest) -> LabReply? {
        guard request.fields["ttl"].flatMap({ Int64($0) }) != nil, request.fields["content-encoding"] == "aes128gcm"
        else { return Self.reply(400) }
        guard let header = request.fields["authorization"], header.hasPrefix("vapid t=") else { return Self.reply(401) }
        // Verified once, as services do with signatures that they have verified before.
        if !state.withLock({ $0.signatures.contains(header) }) {
            let token = String(header.dropFirst(8).prefix { $0 != "," })
            let now = Int64(time(nil))
            guard let (_, claims) = check.claims(of: token), let audience = claims["aud"] as? String,
                audience.hasPrefix("https://"), audience.hasSuffix(":\(port)"), let end = claims["exp"] as? Int64,
                end > now, end <= now + 86_400, claims["sub"] as? String == "mailto:ops@example.org"
            else { return Self.reply(403) }
            state.withLock { _ = $0.signatures.insert(header) }
        }
        return request.body.count > 4096 ? Self.reply(413) : nil
    }
}
