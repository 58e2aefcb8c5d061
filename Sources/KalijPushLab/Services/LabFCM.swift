import Glibc
import Synchronization

import FoundationEssentials

/// A stand-in for Google's service, with the token endpoint: a script decides the answers for a device's token.
public final class LabFCM: Sendable {
    private struct Message: Decodable {
        struct Body: Decodable {
            struct Android: Decodable {
                var priority: String
                var ttl: String
            }
            var token: String
            var android: Android
        }
        var message: Body
    }

    /// A push that was accepted.
    public struct Push: Sendable {
        public var token: String
        public var priority: String
        public var ttl: String
    }

    private struct State {
        var scripts = LabScripts()
        var tokenReply: LabReply?
        var pushes: [Push] = []
        var tokenRequests = 0
        /// Of tokens, in seconds.
        var lifetime = 3599
        var valid: Set<String> = []
    }

    private let state = Mutex(State())
    private let check: TokenCheck
    private let email: String
    private let server = Mutex<LabServer?>(nil)

    /// - Parameter publicKey: a PEM file, of the service account's key.
    public init(_ options: LabServer.Options, publicKey: String, email: String) throws {
        check = try TokenCheck(publicKey: publicKey, algorithm: "RS256")
        self.email = email
        let started = try LabServer(options) { [weak self] in self?.answer($0) ?? .hangUp }
        server.withLock { $0 = started }
    }

    public var port: UInt16 { server.withLock { $0?.port ?? 0 } }
    public var pushes: [Push] { state.withLock { $0.pushes } }
    /// How often an access token was requested.
    public var tokenRequests: Int { state.withLock { $0.tokenRequests } }

    /// Requests for a device's token so far.
    public func requests(for token: String) -> Int { state.withLock { $0.scripts.requests(for: token) } }

    /// The replies to the next requests for a token.
    public func script(_ token: String, _ replies: LabReply...) {
        state.withLock { $0.scripts.set(replies, for: token) }
    }

    /// The lifetime that the token endpoint names, in seconds.
    public func script(lifetime: Int) { state.withLock { $0.lifetime = lifetime } }

    /// The reply of the token endpoint; nil for a token.
    public func script(tokenEndpoint reply: LabReply?) { state.withLock { $0.tokenReply = reply } }

    /// Makes all access tokens invalid.
    public func revoke() { state.withLock { $0.valid = [] } }

    /// Google's reply with an error.
    public static func reply(_ status: Int, _ name: String, code: String? = nil, retryAfter: Int? = nil) -> LabReply {
        let detail = code.map {
            #"{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"\#($0)"}"#
        }
        return .respond(
            status: status, fields: retryAfter.map { [("retry-after", "\($0)")] } ?? [],
            body: #"{"error":{"code":\#(status),"message":"m","status":"\#(name)","details":[\#(detail ?? "")]}}"#)
    }

    public func stop() {
        server.withLock { server in
            server?.stop()
            server = nil
        }
    }

    private func answer(_ request: LabRequest) -> LabReply {
        if request.path == "/token" { return giveToken(String(decoding: request.body, as: UTF8.self)) }
        guard request.path == "/v1/projects/project/messages:send", request.method == "POST" else {
            return Self.reply(404, "NOT_FOUND")
        }
        let access = (request.fields["authorization"] ?? "").dropFirst("Bearer ".count)
        guard state.withLock({ $0.valid.contains(String(access)) }) else { return Self.reply(401, "UNAUTHENTICATED") }
        guard let message = try? JSONDecoder().decode(Message.self, from: Data(request.body)).message else {
            return Self.reply(400, "INVALID_ARGUMENT", code: "INVALID_ARGUMENT")
        }
        return state.withLock { state in
            if let reply = state.scripts.reply(for: message.token) { return reply }
            state.pushes.append(
                Push(token: message.token, priority: message.android.priority, ttl: message.android.ttl))
            return .respond(status: 200, body: #"{"name":"projects/project/messages/1"}"#)
        }
    }

    private func giveToken(_ form: String) -> LabReply {
        let prefix = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion="
        state.withLock { $0.tokenRequests += 1 }
        if let reply = state.withLock({ $0.tokenReply }) { return reply }
        let now = Int64(time(nil))
        guard form.hasPrefix(prefix), let (_, claims) = check.claims(of: String(form.dropFirst(prefix.count))),
            claims["iss"] as? String == email, claims["aud"] as? String == "https://localhost:\(port)/token",
            claims["scope"] as? String == "https://www.googleapis.com/auth/firebase.messaging",
            let issued = claims["iat"] as? Int64, let end = claims["exp"] as? Int64, abs(issued - now) < 60,
            end - issued <= 3600
        else { return .respond(status: 400, body: #"{"error":"invalid_grant"}"#) }
        let lifetime = state.withLock { $0.lifetime }
        let token = "access-\(state.withLock { $0.tokenRequests })"
        state.withLock { _ = $0.valid.insert(token) }
        let body = #"{"access_token":"\#(token)","expires_in":\#(lifetime),"token_type":"Bearer"}"#
        return .respond(status: 200, body: body)
    }
}
