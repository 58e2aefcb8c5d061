import Glibc
import KalijHTTP

/// The meaning of a push service's answers (RFC 8030, 5 and 7.3; RFC 8292, 4.2). A body is never read, and a redirect never followed.
public enum WebPushVerdict {
    /// Seconds that a service may keep pushes waiting.
    private static let maxRest: Int64 = 600

    /// - Parameter response: to a POST to an endpoint.
    public static func of(_ response: HTTPResponse) -> Verdict {
        switch response.status {
        case 200..<300: return .delivered
        case 404, 410: return .dead
        case 429: return .tooMany(.token, retryAfter: retryAfter(response))
        case 500...:
            guard let wait = retryAfter(response) else { return .transient("\(response.status)") }
            return .tooMany(.token, retryAfter: wait)
        case 300..<400: return .unaccepted("\(response.status), a redirect, which is not followed")
        case 400, 401, 403: return .unaccepted("\(response.status): it does not accept our key or our request")
        default: return .unaccepted("\(response.status)")
        }
    }

    /// The meaning of a request without a response.
    static func of(_ failure: HTTPFailure) -> Verdict {
        switch failure.code {
        case .invalid, .tooLarge: .unaccepted(failure.description)
        default: .transient(failure.description)
        }
    }

    private static func retryAfter(_ response: HTTPResponse) -> Milliseconds? {
        response.retryAfter(now: Int64(time(nil))).map { min($0, maxRest) * 1000 }
    }
}
