import Foundation
import KalijPush
import KalijPushLab
import Testing

@Suite("Every row of the provider table against the stand-ins, over TLS", .serialized)
struct StandInTests {
    private typealias Reply = LabComponentServer.Answer

    /// Publishes and gives type and condition of the answer.
    private func publish(_ scene: Scene, _ token: String, _ module: String) -> String {
        guard let answer = scene.xmpp.wait(for: scene.xmpp.publish(token, module: module)) else { return "none" }
        return answer.condition.isEmpty ? answer.type : "\(answer.type)/\(answer.condition)"
    }

    /// Publishes until a probe goes to the provider.
    private func probe(_ scene: Scene, _ token: String, _ module: String) -> String {
        var answer = ""
        scene.xmpp.wait {
            answer = publish(scene, token, module)
            return answer != "wait/remote-server-timeout"
        }
        return answer
    }

    @Test("APNs: the IQ answer, the block, the repetition")
    func apns() throws {
        let scene = try Scene {
            $0["limits"] = ["newTokenFailures": 1000, "deadTokens": 1000, "breakerTokens": 1000, "probe": "100ms"]
        }
        try scene.start()
        // A module without a success proves nothing.
        scene.apns.script(device(0), LabAPNs.reply(400, "BadDeviceToken"))
        #expect(publish(scene, device(0), "apple") == "wait/remote-server-timeout")
        #expect(publish(scene, device(1), "apple") == "result")
        let push = try #require(scene.apns.pushes.first)
        #expect(push.fields["apns-push-type"] == "alert")
        #expect(push.body.contains("\"mutable-content\":1"))

        let rows: [(LabReply, String, requests: Int)] = [
            (LabAPNs.reply(410, "Unregistered"), "cancel/item-not-found", 1),
            (LabAPNs.reply(400, "BadDeviceToken"), "cancel/item-not-found", 1),
            (LabAPNs.reply(400, "DeviceTokenNotForTopic"), "cancel/item-not-found", 1),
            (LabAPNs.reply(403, "ExpiredProviderToken"), "result", 2),
            (LabAPNs.reply(429, "TooManyRequests", retryAfter: 60), "result", 1),
            (LabAPNs.reply(503, "ServiceUnavailable"), "result", 2),
            (.reset(code: 2), "result", 2),
            (.goAway(including: false, then: .silence), "result", 2),
            (.hangUp, "result", 2),
            (.later(0.3, .respond(status: 200)), "result", 1),
        ]
        for (index, row) in rows.enumerated() {
            let token = device(100 + index)
            scene.apns.script(token, row.0)
            #expect(publish(scene, token, "apple") == row.1, "\(row.0)")
            #expect(scene.apns.requests(for: token) == row.requests, "\(row.0)")
        }
        // Blocked now: nothing is sent any more.
        for index in 0..<3 {
            #expect(publish(scene, device(100 + index), "apple") == "cancel/item-not-found")
            #expect(scene.apns.requests(for: device(100 + index)) == 1)
        }
        // Held: covered by the waiting push.
        #expect(publish(scene, device(104), "apple") == "result")
        #expect(scene.apns.requests(for: device(104)) == 1)
    }

    @Test("APNs: our fault: wait, and nothing blocked", arguments: [403, 404, 405, 413, 400])
    func fault(status: Int) throws {
        let scene = try Scene { $0["limits"] = ["probe": "1s"] }
        try scene.start()
        #expect(publish(scene, device(1), "apple") == "result")
        for number in 2...4 {
            scene.apns.script(device(number), LabAPNs.reply(status, #"Something\u000aElse"#))
            #expect(probe(scene, device(number), "apple") == "wait/internal-server-error")
        }
        #expect(scene.log.contains { $0.contains("\(status) Something") })
        #expect(probe(scene, device(1), "apple") == "result")
    }

    @Test("silence: every publish is answered, by our own limit")
    func silence() throws {
        let scene = try Scene()
        try scene.start()
        scene.apns.script(all: .silence)
        let id = scene.xmpp.publish(device(1), module: "apple")
        let answer = try #require(scene.xmpp.wait(for: id))
        #expect(answer.type == "wait")
        // 2 s and 10 s at most are promised; a busy machine adds to it.
        print("answered after \(answer.seconds) s of the provider's silence")
    }

    @Test("FCM: the IQ answer, the block, the repetition; one access token for all")
    func fcm() throws {
        let scene = try Scene {
            $0["limits"] = ["newTokenFailures": 1000, "deadTokens": 1000, "breakerTokens": 1000, "probe": "100ms"]
        }
        try scene.start()
        let ids = (0..<20).map { scene.xmpp.publish("first\($0)", module: "google") }
        for id in ids { #expect(scene.xmpp.wait(for: id)?.type == "result") }
        #expect(scene.fcm.tokenRequests == 1)
        #expect(scene.fcm.pushes.first?.priority == "high")
        #expect(scene.fcm.pushes.first?.ttl == "2419200s")
        let rows: [(LabReply, String, requests: Int)] = [
            (LabFCM.reply(404, "NOT_FOUND", code: "UNREGISTERED"), "cancel/item-not-found", 1),
            (LabFCM.reply(403, "PERMISSION_DENIED", code: "SENDER_ID_MISMATCH"), "cancel/item-not-found", 1),
            (LabFCM.reply(401, "UNAUTHENTICATED"), "result", 2),
            (LabFCM.reply(503, "UNAVAILABLE", code: "UNAVAILABLE"), "result", 2),
            (.reset(code: 2), "result", 2),
        ]
        for (index, row) in rows.enumerated() {
            scene.fcm.script("token\(index)", row.0)
            #expect(publish(scene, "token\(index)", "google") == row.1, "\(row.0)")
            #expect(scene.fcm.requests(for: "token\(index)") == row.requests, "\(row.0)")
        }
        scene.fcm.script("fault", LabFCM.reply(400, "INVALID_ARGUMENT", code: "INVALID_ARGUMENT"))
        #expect(publish(scene, "fault", "google") == "wait/internal-server-error")
        // Quota: the module rests.
        scene.fcm.script("quota", LabFCM.reply(429, "RESOURCE_EXHAUSTED", code: "QUOTA_EXCEEDED", retryAfter: 60))
        #expect(probe(scene, "quota", "google") == "result")
        #expect(publish(scene, "other", "google") == "result")
        #expect(scene.fcm.requests(for: "other") == 0)
        // The other module goes on.
        #expect(publish(scene, device(1), "apple") == "result")
    }

    @Test("FCM: the token endpoint does not answer, or refuses us")
    func tokenEndpoint() throws {
        let scene = try Scene { $0["limits"] = ["probe": "100ms", "answer": "3s"] }
        try scene.start()
        scene.fcm.script(tokenEndpoint: .respond(status: 500))
        #expect(publish(scene, "a", "google") == "wait/remote-server-timeout")
        scene.fcm.script(tokenEndpoint: .respond(status: 400, body: #"{"error":"invalid_grant"}"#))
        #expect(publish(scene, "b", "google") == "wait/internal-server-error")
        #expect(scene.log.contains { $0.contains("invalid_grant") })
        scene.fcm.script(tokenEndpoint: nil)
        #expect(scene.xmpp.wait { publish(scene, "b", "google") == "result" })
    }

    @Test("FCM: a token endpoint whose tokens end at once is not asked for each push")
    func shortTokens() throws {
        let scene = try Scene()
        try scene.start()
        scene.fcm.script(lifetime: 0)
        for token in ["a", "b", "c", "d", "e", "f", "g", "h"] { #expect(publish(scene, token, "google") == "result") }
        #expect(scene.fcm.tokenRequests <= 2)
    }

    @Test("the provider down, and up again: no answer but wait, nothing blocked")
    func down() throws {
        let scene = try Scene { $0["limits"] = ["answer": "3s"] }
        try scene.start()
        #expect(publish(scene, device(0), "apple") == "result")
        scene.apns.stop()
        let ids = (1...100).map { scene.xmpp.publish(device($0), module: "apple") }
        for id in ids { #expect(scene.xmpp.wait(for: id)?.type == "wait") }
        print("answered after at most \(scene.xmpp.times.max() ?? 0) s without the provider")
    }
}
