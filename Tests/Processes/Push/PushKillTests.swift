import Foundation
import Glibc
import KalijLab
import KalijPushLab
import TestSupport
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
        var lives: [String: String] = [:]
        var number = 0
        // Each kill comes at another moment; `Scripts/long push-kills 200` for more kills.
        let kills = LongForm.amount("push-kills", short: 12)
        for _ in 0..<kills {
            try stage.start()
            #expect(xmpp.wait { xmpp.isReady }, "\(stage.log.suffix(600))")
            // A push that two kills in a row meet on its way is given up: pushes from before go out first.
            #expect(xmpp.wait { queued.allSatisfy { stage.apns.requests(for: $0) >= 2 } })
            let before = xmpp.answered
            var asked: [(token: String, first: String, second: String)] = []
            for _ in 0..<40 {
                number += 1
                let token = String(repeating: "b", count: 56) + String(10_000_000 + number)
                asked.append((token, xmpp.publish(token, module: "apple"), xmpp.publish(token, module: "apple")))
            }
            // From the first answer until all pushes are out: the moment is counted in answers, because a busy machine takes long.
            let wanted = random.number(0...120)
            xmpp.wait { xmpp.answered - before >= min(wanted, 2 * asked.count) }
            usleep(UInt32(random.number(0...(wanted > 80 ? 600_000 : 5_000))))
            stage.kill()
            xmpp.wait { !xmpp.isReady }
            // Both answered in one life: the second push was queued before its answer.
            let (life, answers) = ("life \(lives.count / 40), \(wanted) wanted", xmpp.answered - before)
            for one in asked { lives[one.token] = life + ", \(answers) answers" }
            queued += asked.filter { one in
                xmpp.answer(one.first)?.type == "result" && xmpp.answer(one.second)?.type == "result"
            }.map(\.token)
        }
        try stage.start()
        #expect(xmpp.wait { xmpp.isReady })
        #expect(xmpp.wait { queued.allSatisfy { stage.apns.requests(for: $0) >= 2 } })
        let lost = queued.filter { stage.apns.requests(for: $0) < 2 }
        let tooMany = queued.filter { stage.apns.requests(for: $0) > 3 }
        #expect(queued.count > 5 * kills, "the kills came too early to show anything")
        print("push: \(kills) kills, \(queued.count) of \(number) second pushes were queued before")
        #expect(lost.isEmpty, "\(lost.map { lives[$0] ?? "" })")
        #expect(tooMany.isEmpty)
    }

    @Test("an idle server ends with 0 after SIGTERM")
    func idle() throws {
        let folder = try TemporaryDirectory(prefix: "kalij-push")
        defer { folder.remove() }
        let xmpp = try LabComponentServer(key: "component-key")
        defer { xmpp.stop() }
        let stage = try PushStage(folder: folder.path + "/stage", port: xmpp.port)
        try stage.start()
        #expect(xmpp.wait { xmpp.isReady })
        #expect(stage.terminate() == .exited(0))
    }
}
