import Foundation
import Glibc
import KalijLab
import KalijPushLab
import Testing

@Suite("The push server is killed", .serialized)
struct PushKillTests {
    @Test("SIGKILL at any moment: no queued push is lost; pushes in flight go out twice at most")
    func kills() throws {
        let folder = try TemporaryDirectory(prefix: "kalij-push")
        defer { folder.remove() }
        let xmpp = try LabComponentServer(key: "component-key")
        defer { xmpp.stop() }
        let stage = try PushStage(
            folder: folder.path + "/stage", port: xmpp.port, more: ["timeout": ["xmppconnectionError": "100ms"]],
            window: "400ms")
        let random = RandomChoices("push")
        var queued: [String] = []
        var number = 0
        // Each kill comes at another moment; KALIJ_PUSH_KILLS=300 for more kills.
        let kills = ProcessInfo.processInfo.environment["KALIJ_PUSH_KILLS"].flatMap { Int($0) } ?? 16
        for _ in 0..<kills {
            try stage.start()
            #expect(xmpp.wait(seconds: 10) { xmpp.isReady }, "\(stage.log.suffix(600))")
            var asked: [(token: String, first: String, second: String)] = []
            for _ in 0..<40 {
                number += 1
                let token = String(repeating: "b", count: 56) + String(10_000_000 + number)
                asked.append((token, xmpp.publish(token, module: "apple"), xmpp.publish(token, module: "apple")))
            }
            usleep(UInt32(random.number(0...899_999)))
            stage.kill()
            xmpp.wait(seconds: 5) { !xmpp.isReady }
            // Both answered in one life: the second push was queued before its answer.
            queued += asked.filter { one in
                xmpp.answer(one.first)?.type == "result" && xmpp.answer(one.second)?.type == "result"
            }.map(\.token)
        }
        try stage.start()
        #expect(xmpp.wait(seconds: 10) { xmpp.isReady })
        #expect(xmpp.wait(seconds: 15) { queued.allSatisfy { stage.apns.requests(for: $0) >= 2 } })
        let lost = queued.filter { stage.apns.requests(for: $0) < 2 }
        let tooMany = queued.filter { stage.apns.requests(for: $0) > 3 }
        #expect(queued.count > 5 * kills, "the kills came too early to show anything")
        #expect(lost.isEmpty)
        #expect(tooMany.isEmpty)
    }

    @Test("an idle server is small, and ends with 0 after SIGTERM")
    func idle() throws {
        let folder = try TemporaryDirectory(prefix: "kalij-push")
        defer { folder.remove() }
        let xmpp = try LabComponentServer(key: "component-key")
        defer { xmpp.stop() }
        let stage = try PushStage(folder: folder.path + "/stage", port: xmpp.port)
        try stage.start()
        #expect(xmpp.wait(seconds: 10) { xmpp.isReady })
        #expect(stage.terminate() == .exited(0))
    }
}
