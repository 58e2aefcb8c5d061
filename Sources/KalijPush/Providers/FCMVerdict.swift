import KalijHTTP
import KalijText

/// The meaning of Google's answers ("ErrorCode" of the FCM HTTP v1 API).
public enum FCMVerdict {
    /// - Parameter response: to a POST to `/v1/projects/PROJECT/messages:send`.
    public static func of(_ response: HTTPResponse) -> Verdict {
        let error = response.status == 200 ? nil : (try? JSONValue.parse(response.body))?["error"]
        let code = error.flatMap(errorCode) ?? error?["status"]?.text ?? ""
        let words = "\(response.status) \(code.cut(to: 60))"
        switch (response.status, code) {
        case (200, _): return .delivered
        case (_, "UNREGISTERED"): return .dead
        case (_, "SENDER_ID_MISMATCH"): return .bad
        case (400, "INVALID_ARGUMENT") where error.map(isAboutToken) == true: return .bad
        case (401, "THIRD_PARTY_AUTH_ERROR"): return .fault(words)
        case (401, _): return .staleCredentials
        case (429, _), (_, "QUOTA_EXCEEDED"): return .tooMany(.module, retryAfter: APNsVerdict.retryAfter(response))
        case (500..., _): return .transient(words)
        default: return .fault(words)
        }
    }

    private static func details(_ error: JSONValue) -> [JSONValue] {
        if case .array(let details) = error["details"] { return details }
        return []
    }

    private static func errorCode(_ error: JSONValue) -> String? {
        for detail in details(error) {
            if let code = detail["errorCode"]?.text { return code }
        }
        return nil
    }

    /// INVALID_ARGUMENT may be about anything in the request: the details name the field, older answers the token.
    private static func isAboutToken(_ error: JSONValue) -> Bool {
        for detail in details(error) {
            guard case .array(let violations) = detail["fieldViolations"] else { continue }
            return violations.contains { $0["field"]?.text == "message.token" }
        }
        return error["message"]?.text?.contains("registration token") == true
    }
}
