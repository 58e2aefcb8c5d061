import Glibc
import KalijHTTP
import KalijText
import KalijTransport

/// Google's access tokens: requested with a signed assertion (RFC 7523), early, and one at a time.
final class FCMAccess {
    private struct Claims: Encodable {
        var iss: String
        var scope = "https://www.googleapis.com/auth/firebase.messaging"
        var aud: String
        var iat: Int64
        var exp: Int64
    }

    /// No token; with the verdict for a push.
    struct Refusal: Error {
        var verdict: Verdict
    }

    private typealias Waiter = (Result<String, Refusal>) -> Void

    private let loop: EventLoop
    private let account: ServiceAccount
    private let timeout: Double
    private let client: HTTPClient
    private var token = ""
    private var obtained = 0.0
    private var expires = 0.0
    private var isRequesting = false
    private var refusal: (what: Refusal, until: Double)?
    /// How long the last refusal counts, in seconds; doubles with each in a row.
    private var rest = minRest
    private static let minRest = 0.1
    /// The shortest use of a token in seconds, whatever lifetime the endpoint names: otherwise each push would request one.
    private static let minUse = 10.0
    private var waiters: [Waiter] = []

    init(
        loop: EventLoop, account: ServiceAccount, caFile: String?, timeout: Double, notice: @escaping (String) -> Void
    ) {
        self.loop = loop
        self.account = account
        self.timeout = timeout
        var limits = HTTPLimits()
        limits.connections = 1
        limits.idle = 60
        limits.backoff = PushConnection.backoff
        client = HTTPClient(
            loop: loop, origin: account.tokenOrigin,
            tls: TLSSettings(serverName: account.tokenOrigin.host, caFile: caFile), limits: limits
        ) { event in
            if case .failed(let reason) = event { notice("no connection to Google's token endpoint: \(reason)") }
        }
    }

    func close() { client.close() }

    /// Gives a token that stays valid for a while; `fresh` if the token before was refused.
    func token(fresh: Bool, _ done: @escaping (Result<String, Refusal>) -> Void) {
        let now = loop.now
        // Another push may have just renewed the token.
        let isStale = fresh && now - obtained > 10
        if !token.isEmpty, now < expires, !isStale {
            // Early, while the old token is still valid.
            if now > expires - 240, now - obtained > Self.minUse { requestToken() }
            return done(.success(token))
        }
        if isStale { token = "" }
        if let refusal, now < refusal.until {
            loop.enqueue { done(.failure(refusal.what)) }
            return
        }
        waiters.append(done)
        requestToken()
    }

    private func requestToken() {
        guard !isRequesting, refusal.map({ loop.now >= $0.until }) ?? true else { return }
        isRequesting = true
        let now = Int64(time(nil))
        let claims = Claims(iss: account.email, aud: account.tokenURI, iat: now, exp: now + 3600)
        guard let assertion = try? JSONWebToken.sign(claims, with: account.key, keyID: account.keyID) else {
            loop.enqueue { [self] in deliver(.failure(Refusal(verdict: .fault("the assertion cannot be signed")))) }
            return
        }
        // Base64url needs no escaping in a form.
        let body = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=" + assertion
        let request = HTTPRequest(
            path: account.tokenPath, fields: [HTTPField("content-type", "application/x-www-form-urlencoded")],
            body: Array(body.utf8))
        client.perform(request, timeout: timeout) { [weak self] in self?.answered($0) }
    }

    private func answered(_ outcome: HTTPOutcome) {
        switch outcome {
        case .failure(let failure): deliver(.failure(Refusal(verdict: Verdict(failure))))
        case .success(let response):
            let value = try? JSONValue.parse(response.body)
            if response.status == 200, let token = value?["access_token"]?.text {
                var seconds = 3600.0
                if case .integer(let lifetime)? = value?["expires_in"] { seconds = Double(lifetime) }
                self.token = token
                obtained = loop.now
                // Not used in the token's last minute.
                expires = obtained + max(Self.minUse, min(seconds, 86_400) - 60)
                deliver(.success(token))
            } else {
                let words = "token endpoint: \(response.status) \((value?["error"]?.text ?? "").cut(to: 60))"
                let verdict =
                    response.status >= 500 || response.status == 429
                    ? Verdict.transient(words) : Verdict.fault(words)
                deliver(.failure(Refusal(verdict: verdict)))
            }
        }
    }

    private func deliver(_ result: Result<String, Refusal>) {
        isRequesting = false
        refusal = nil
        // Not requested again for each push: the answer would be the same.
        if case .failure(let what) = result {
            refusal = (what, loop.now + rest)
            rest = min(2 * rest, PushConnection.backoff)
        } else {
            rest = Self.minRest
        }
        let waiting = waiters
        waiters = []
        for waiter in waiting { waiter(result) }
    }
}
