import Glibc
import KalijHTTP
import KalijText

/// The meaning of Apple's answers ("Handling notification responses from APNs").
public enum APNsVerdict {
    /// - Parameter response: to a POST to `/3/device/TOKEN`.
    public static func of(_ response: HTTPResponse) -> Verdict {
        let reason = (try? JSONValue.parse(response.body))?["reason"]?.text ?? ""
        let words = "\(response.status) \(reason.cut(to: 60))"
        switch (response.status, reason) {
        case (200, _): return .delivered
        case (410, _): return .dead
        case (400, "BadDeviceToken"), (400, "DeviceTokenNotForTopic"): return .bad
        case (403, "ExpiredProviderToken"): return .staleCredentials
        case (429, "TooManyProviderTokenUpdates"): return .tooMany(.module, retryAfter: retryAfter(response))
        case (429, _): return .tooMany(.token, retryAfter: retryAfter(response))
        case (500..., _): return .transient(words)
        default: return .fault(words)
        }
    }

    /// Retry-After, an hour at most.
    static func retryAfter(_ response: HTTPResponse) -> Milliseconds? {
        response.retryAfter(now: Int64(time(nil))).map { min($0, 3600) * 1000 }
    }
}

extension Verdict {
    /// The meaning of a request without a response.
    public init(_ failure: HTTPFailure) {
        self = failure.code == .invalid ? .fault(failure.description) : .transient(failure.description)
    }
}
