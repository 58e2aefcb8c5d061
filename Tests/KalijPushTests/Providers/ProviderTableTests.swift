import KalijHTTP
import KalijPush
import Testing

@Suite("The meaning of the providers' answers")
struct ProviderTableTests {
    @Test("every row of the table for APNs")
    func apns() {
        let rows: [(Int, String, Verdict)] = [
            (200, "", .delivered), (410, "Unregistered", .dead), (410, "ExpiredToken", .dead),
            (400, "BadDeviceToken", .bad), (400, "DeviceTokenNotForTopic", .bad),
            (403, "ExpiredProviderToken", .staleCredentials),
            (403, "InvalidProviderToken", .fault("403 InvalidProviderToken")),
            (403, "BadCertificate", .fault("403 BadCertificate")), (404, "BadPath", .fault("404 BadPath")),
            (405, "MethodNotAllowed", .fault("405 MethodNotAllowed")),
            (413, "PayloadTooLarge", .fault("413 PayloadTooLarge")), (400, "BadTopic", .fault("400 BadTopic")),
            (429, "TooManyRequests", .tooMany(.token, retryAfter: nil)),
            (429, "TooManyProviderTokenUpdates", .tooMany(.module, retryAfter: nil)),
            (500, "InternalServerError", .transient("500 InternalServerError")),
            (503, "Shutdown", .transient("503 Shutdown")), (302, "", .fault("302 ")),
        ]
        for (status, reason, verdict) in rows {
            let body = reason.isEmpty ? "" : #"{"reason":"\#(reason)"}"#
            #expect(APNsVerdict.of(HTTPResponse(status: status, body: Array(body.utf8))) == verdict)
        }
        let held = HTTPResponse(
            status: 429, fields: [HTTPField("retry-after", "30")], body: Array(#"{"reason":"TooManyRequests"}"#.utf8))
        #expect(APNsVerdict.of(held) == .tooMany(.token, retryAfter: 30_000))
        let dated = HTTPResponse(
            status: 429,
            fields: [
                HTTPField("date", "Sun, 06 Nov 1994 08:49:37 GMT"),
                HTTPField("retry-after", "Sun, 06 Nov 1994 08:50:37 GMT"),
            ])
        #expect(APNsVerdict.of(dated) == .tooMany(.token, retryAfter: 60_000))
        #expect(APNsVerdict.of(HTTPResponse(status: 503, body: [0xff])) == .transient("503 "))
    }

    @Test("every row of the table for FCM")
    func fcm() {
        func body(_ status: String, _ code: String?, _ more: String = "") -> String {
            let type = "type.googleapis.com/google.firebase.fcm.v1.FcmError"
            let detail = code.map { #"{"@type":"\#(type)","errorCode":"\#($0)"}"# } ?? ""
            let details = [detail, more].filter { !$0.isEmpty }.joined(separator: ",")
            return #"{"error":{"code":1,"message":"m","status":"\#(status)","details":[\#(details)]}}"#
        }
        let violation = #"{"@type":"x","fieldViolations":[{"field":"message.token","description":"Invalid"}]}"#
        let other = #"{"@type":"x","fieldViolations":[{"field":"message.data","description":"Invalid"}]}"#
        let rows: [(Int, String, Verdict)] = [
            (200, #"{"name":"projects/p/messages/1"}"#, .delivered),
            (404, body("NOT_FOUND", "UNREGISTERED"), .dead),
            (403, body("PERMISSION_DENIED", "SENDER_ID_MISMATCH"), .bad),
            (400, body("INVALID_ARGUMENT", "INVALID_ARGUMENT", violation), .bad),
            (400, body("INVALID_ARGUMENT", "INVALID_ARGUMENT", other), .fault("400 INVALID_ARGUMENT")),
            (400, body("INVALID_ARGUMENT", "INVALID_ARGUMENT"), .fault("400 INVALID_ARGUMENT")),
            (401, body("UNAUTHENTICATED", nil), .staleCredentials),
            (401, body("UNAUTHENTICATED", "THIRD_PARTY_AUTH_ERROR"), .fault("401 THIRD_PARTY_AUTH_ERROR")),
            (403, body("PERMISSION_DENIED", nil), .fault("403 PERMISSION_DENIED")),
            (404, body("NOT_FOUND", nil), .fault("404 NOT_FOUND")),
            (429, body("RESOURCE_EXHAUSTED", "QUOTA_EXCEEDED"), .tooMany(.module, retryAfter: nil)),
            (503, body("UNAVAILABLE", "UNAVAILABLE"), .transient("503 UNAVAILABLE")),
            (500, body("INTERNAL", "INTERNAL"), .transient("500 INTERNAL")), (502, "<html>", .transient("502 ")),
        ]
        for (status, text, verdict) in rows {
            #expect(FCMVerdict.of(HTTPResponse(status: status, body: Array(text.utf8))) == verdict, "\(text)")
        }
    }
}
