import Foundation
import KalijPush
import KalijPushLab
import KalijText
import Testing

@Suite("Push services that devices name, over TLS", .serialized)
struct WebPushTests {
    private typealias Reply = LabComponentServer.Answer

    private func publish(_ scene: Scene, _ node: String) -> String {
        guard let answer = scene.xmpp.wait(for: scene.xmpp.publish(node, module: "web")) else { return "none" }
        return answer.condition.isEmpty ? answer.type : "\(answer.type)/\(answer.condition)"
    }

    /// The same endpoint with the keys of another device.
    private func withOtherKeys(_ node: String) throws -> String {
        let keys = try Scene.withService().1.node("x").split(separator: "#")[1]
        return node.split(separator: "#")[0] + "#" + keys
    }

    @Test("a push: encrypted, of one size, signed, with its fields")
    func push() throws {
        let (scene, service) = try Scene.withService()
        try scene.start()
        #expect(publish(scene, service.node("a")) == "result")
        let push = try #require(service.pushes.first)
        #expect(push.text == "look")
        #expect(push.size == 128)
        #expect(push.fields["ttl"] == "2419200")
        #expect(push.fields["urgency"] == "high")
        #expect(push.fields["topic"] == "look")
        #expect(push.fields["content-encoding"] == "aes128gcm")
        for number in 0..<20 { #expect(publish(scene, service.node("b\(number)")) == "result") }
        #expect(Set(service.pushes.map(\.size)) == [128])
        #expect(service.connections == 1)
        #expect(service.signatures == 1)
        let metrics = try #require(scene.metrics())
        #expect(metrics.contains(#"kalij_push_services{module="web",state="known"} 1"#))
        #expect(metrics.contains(#"kalij_push_pushes_total{module="web",outcome="delivered"} 21"#))
        #expect(!metrics.contains("push.localhost"))
    }

    @Test("the answers: the IQ, the block, the repetition")
    func answers() throws {
        let (scene, service) = try Scene.withService {
            $0["limits"] = ["newTokenFailures": 1000, "deadTokens": 1000, "breakerTokens": 2, "probe": "100ms"]
        }
        try scene.start()
        #expect(publish(scene, service.node("first")) == "result")
        let rows: [(LabReply, String, requests: Int)] = [
            (LabPushService.reply(200), "result", 1), (LabPushService.reply(202), "result", 1),
            (LabPushService.reply(204), "result", 1),
            (LabPushService.reply(404), "cancel/item-not-found", 1),
            (LabPushService.reply(410), "cancel/item-not-found", 1),
            (LabPushService.reply(429, retryAfter: 60), "result", 1),
            (LabPushService.reply(503, retryAfter: 60), "result", 1),
            (LabPushService.reply(503), "result", 2), (.reset(code: 2), "result", 2), (.hangUp, "result", 2),
            (.goAway(including: false, then: .silence), "result", 2),
            (LabPushService.reply(400), "wait/internal-server-error", 1),
            (LabPushService.reply(401), "wait/internal-server-error", 1),
            (LabPushService.reply(403), "wait/internal-server-error", 1),
            (LabPushService.reply(413), "wait/internal-server-error", 1),
            (LabPushService.reply(418), "wait/internal-server-error", 1),
            (
                .respond(status: 307, fields: [("location", "https://push.localhost:\(service.port)/p/elsewhere")]),
                "wait/internal-server-error", 1
            ),
            (.respond(status: 201, body: String(repeating: "a", count: 100_000)), "wait/internal-server-error", 1),
            (
                .respond(status: 201, fields: [("x", String(repeating: "a", count: 10_000))]),
                "wait/internal-server-error", 1
            ),
            (.later(0.3, LabPushService.reply(201)), "result", 1),
        ]
        for (index, row) in rows.enumerated() {
            let device = "device\(index)"
            service.script(device, row.0)
            #expect(publish(scene, service.node(device)) == row.1, "\(row.0)")
            #expect(service.requests(for: device) == row.requests, "\(row.0)")
        }
        #expect(service.requests(for: "elsewhere") == 0)
        // Gone: blocked, and nothing is sent any more, whatever keys are named.
        for index in [3, 4] {
            let node = service.node("device\(index)")
            #expect(publish(scene, node) == "cancel/item-not-found")
            #expect(publish(scene, try withOtherKeys(node)) == "cancel/item-not-found")
            #expect(service.requests(for: "device\(index)") == 1)
        }
        // One line about the service that does not accept us; the module is well.
        #expect(scene.log.filter { $0.contains("push.localhost answers 400") }.count == 1)
        #expect(scene.log.filter { $0.contains("the push service") }.count == 1)
        #expect(publish(scene, service.node("last")) == "result")
        let metrics = try #require(scene.metrics())
        #expect(metrics.contains(#"kalij_push_module_healthy{module="web"} 1"#))
    }

    @Test("nodes that are no subscription: `wait`, nothing sent, nothing blocked")
    func nodes() throws {
        let (scene, service) = try Scene.withService()
        try scene.start()
        let good = service.node("a")
        let keys = String(good.split(separator: "#")[1])
        var nodes = ["8f2c66d0", good + "x", String(good.dropLast()), String(repeating: "a", count: 10_000)]
        nodes += ["http://a.example/", "https://127.0.0.1/", "https://[::1]/", "https://a@b.example/"].map {
            "\($0)#\(keys)"
        }
        nodes.append("https://push.localhost:\(service.port == 65_535 ? 65_534 : service.port + 1)/p/a#\(keys)")
        for node in nodes {
            #expect(publish(scene, node).hasPrefix("wait/"), "\(node)")
        }
        #expect(service.connections == 0)
        #expect(publish(scene, good) == "result")
    }

    @Test("a push that waits is sent with the latest keys of the device")
    func keys() throws {
        let (scene, service) = try Scene.withService { ServerTests.setWindow(&$0, "1s", of: "web") }
        try scene.start()
        let node = service.node("a")
        #expect(publish(scene, node) == "result")
        #expect(publish(scene, try withOtherKeys(node)) == "result")
        #expect(publish(scene, node) == "result")
        #expect(scene.xmpp.wait { service.pushes.count == 2 })
        #expect(service.pushes.map(\.text) == ["look", "look"])
    }

    @Test("a service in silence: its pushes are answered, another service's pushes at once, and the module is well")
    func silence() throws {
        let (scene, service) = try Scene.withService(names: ["push.localhost", "a.push.localhost"])
        try scene.start()
        let silent = (0..<100).map { number in
            service.script("silent\(number)", .silence, .silence, .silence, .silence, .silence)
            return scene.xmpp.publish(service.node("silent\(number)", at: "a.push.localhost"), module: "web")
        }
        for number in 0..<100 { #expect(publish(scene, service.node("good\(number)")) == "result") }
        let answers = silent.compactMap { scene.xmpp.wait(for: $0) }
        #expect(answers.count == 100)
        #expect(answers.allSatisfy { $0.type == "wait" })
        // Not more than the service gets before its first answer.
        let sent = (0..<100).reduce(0) { $0 + service.requests(for: "silent\($1)") }
        #expect(sent <= 40, "\(sent)")
        let metrics = try #require(scene.metrics())
        #expect(metrics.contains(#"kalij_push_services{module="web",state="resting"} 1"#))
        #expect(metrics.contains(#"kalij_push_module_healthy{module="web"} 1"#))
    }

    @Test("a name that leads to this machine is not connected to, unless it is the operator's own")
    func loopback() throws {
        let (scene, service) = try Scene.withService(isOwn: false)
        try scene.start()
        // The system's resolver says that names below localhost are this machine.
        #expect(publish(scene, service.node("a")) == "wait/remote-server-timeout")
        #expect(service.connections == 0)
    }

    @Test("another key takes effect with a reload; a key that is none stays without effect")
    func reload() throws {
        let (scene, service) = try Scene.withService()
        try scene.start()
        #expect(publish(scene, service.node("a")) == "result")
        let file = URL(fileURLWithPath: scene.folder + "/web.pem")
        try Data("nothing".utf8).write(to: file)
        scene.reload()
        #expect(scene.log.contains { $0.contains("pushModules.web.webpush.keyFilePath") })
        #expect(publish(scene, service.node("b")) == "result")
        try Scene.shell("openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out web.pem", in: scene.folder)
        scene.reload()
        // The service knows the former key alone.
        #expect(publish(scene, service.node("c")) == "wait/internal-server-error")
        #expect(publish(scene, service.node("a")) != "cancel/item-not-found")
    }
}

extension Scene {
    /// A scene with a module `web`, and a push service under some names.
    static func withService(
        names: [String] = ["push.localhost"], isOwn: Bool = true, _ change: (inout [String: Any]) -> Void = { _ in }
    ) throws -> (Scene, LabPushService) {
        let scene = try Scene()
        let options = LabServer.Options(certificate: scene.folder + "/server.pem", key: scene.folder + "/server.key")
        let service = try LabPushService(options, publicKey: scene.folder + "/ec.pub", host: names[0])
        try FileManager.default.copyItem(atPath: scene.folder + "/ec.p8", toPath: scene.folder + "/web.pem")
        let own: [[String: Any]] = names.map {
            ["host": $0, "port": Int(service.port), "address": "127.0.0.1", "caFile": scene.folder + "/server.pem"]
        }
        var modules = scene.settings["pushModules"] as? [String: Any] ?? [:]
        modules["web"] = [
            "type": "webpush",
            "webpush": [
                "keyFilePath": scene.folder + "/web.pem", "contact": "mailto:ops@example.org", "requestTimeout": 2,
                "ownServices": isOwn ? own : [], "ports": isOwn ? [] : [Int(service.port)],
            ],
        ]
        scene.settings["pushModules"] = modules
        change(&scene.settings)
        try scene.writeSettings()
        return (scene, service)
    }
}
