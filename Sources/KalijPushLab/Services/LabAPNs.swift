import Glibc
import Synchronization

/// A stand-in for Apple's service: a script decides the answers for a device's token.
public final class LabAPNs: Sendable {
    /// A push that was accepted.
    public struct Push: Sendable {
        public var token: String
        public var fields: [String: String]
        public var body: String
        /// Seconds since 1970.
        public var at: Double
    }

    private struct State {
        var scripts = LabScripts()
        var pushes: [Push] = []
        var tokens: [String: Int64] = [:]
    }

    private let state = Mutex(State())
    private let check: TokenCheck?
    private let keyID: String
    private let teamID: String
    private let topic: String
    private let server = Mutex<LabServer?>(nil)

    /// - Parameters:
    ///   - publicKey: a PEM file; nil if a client certificate is the proof, as required in `options`.
    ///   - keeps: whether pushes are kept for ``pushes``.
    public init(
        _ options: LabServer.Options, publicKey: String?, keyID: String = "KEYID", teamID: String = "TEAMID",
        topic: String = "org.example.app", keeps: Bool = true
    ) throws {
        check = try publicKey.map { try TokenCheck(publicKey: $0, algorithm: "ES256") }
        self.keyID = keyID
        self.teamID = teamID
        self.topic = topic
        let started = try LabServer(options) { [weak self] in self?.answer($0, keeps: keeps) ?? .hangUp }
        server.withLock { $0 = started }
    }

    public var port: UInt16 { server.withLock { $0?.port ?? 0 } }
    public var connections: Int { server.withLock { $0?.connections ?? 0 } }
    public var pushes: [Push] { state.withLock { $0.pushes } }
    /// How many different provider tokens were shown.
    public var providerTokens: Int { state.withLock { $0.tokens.count } }

    /// Requests for a device's token so far.
    public func requests(for token: String) -> Int { state.withLock { $0.scripts.requests(for: token) } }

    /// The replies to the next requests for a token; after the last reply, the standard reply.
    public func script(_ token: String, _ replies: LabReply...) {
        state.withLock { $0.scripts.set(replies, for: token) }
    }

    /// The reply forevery token without a script; nil for success.
    public func script(all reply: LabReply?) { state.withLock { $0.scripts.standard = reply } }

    /// Apple's reply with a reason.
    public static func reply(_ status: Int, _ reason: String, retryAfter: Int? = nil) -> LabReply {
        .respond(
            status: status, fields: retryAfter.map { [("retry-after", "\($0)")] } ?? [],
            body: #"{"reason":"\#(reason)"}"#)
    }

    public func stop() {
        server.withLock { server in
            server?.stop()
            server = nil
        }
    }

    private func answer(_ request: LabRequest, keeps: Bool) -> LabReply {
        guard request.method == "POST", request.path.hasPrefix("/3/device/") else { return Self.reply(404, "BadPath") }
        if let refusal = refusal(request) { return refusal }
        let token = String(request.path.dropFirst(10))
        let push = Push(
            token: token, fields: request.fields, body: String(decoding: request.body, as: UTF8.self), at: Self.now())
        return state.withLock { state in
            if let reply = state.scripts.reply(for: token) { return reply }
            if keeps { state.pushes.append(push) }
            return .respond(status: 200, fields: [("apns-id", "1")])
        }
    }

    /// Apple's checks before the device's token.
    private func refusal(_ request: LabRequest) -> LabReply? {
        if let check {
            guard let header = request.fields["authorization"], header.hasPrefix("bearer ") else {
                return Self.reply(403, "MissingProviderToken")
            }
            let token = String(header.dropFirst(7))
            // Verified once, as Apple's servers do with tokens that they have verified before.
            if state.withLock({ $0.tokens[token] == nil }) {
                guard let (head, claims) = check.claims(of: token), head["kid"] as? String == keyID,
                    claims["iss"] as? String == teamID, let issued = claims["iat"] as? Int64
                else { return Self.reply(403, "InvalidProviderToken") }
                state.withLock { $0.tokens[token] = issued }
            }
            let issued = state.withLock { $0.tokens[token] ?? 0 }
            if abs(Int64(time(nil)) - issued) > 3600 { return Self.reply(403, "ExpiredProviderToken") }
        }
        guard request.fields["apns-topic"] == topic else { return Self.reply(400, "BadTopic") }
        guard let expiration = request.fields["apns-expiration"].flatMap({ Int64($0) }), expiration > Int64(time(nil))
        else {
            return Self.reply(400, "BadExpirationDate")
        }
        let pair = (request.fields["apns-push-type"], request.fields["apns-priority"])
        guard pair == ("alert", "10") || pair == ("background", "5") else { return Self.reply(400, "BadPriority") }
        return request.body.count > 4096 ? Self.reply(413, "PayloadTooLarge") : nil
    }

    static func now() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
