import Foundation
import KalijLab
import KalijPushLab
import Testing

@Suite("The push server's disk is full", .serialized)
struct FullDiskTests {
    @Test("disk full: goes on answering, keeps its state, says so in health and metrics, and recovers")
    func full() async throws {
        let folder = try TemporaryDirectory(prefix: "kalij-push")
        defer { folder.remove() }
        let xmpp = try LabComponentServer(key: "component-key")
        defer { xmpp.stop() }
        let stage = try PushStage(folder: folder.path + "/stage", port: xmpp.port, window: "6s")
        try stage.start()
        #expect(xmpp.wait { xmpp.isReady })
        func token(_ number: Int) -> String { String(repeating: "d", count: 56) + String(10_000_000 + number) }
        func publish(_ number: Int) -> String? { xmpp.wait(for: xmpp.publish(token(number), module: "apple"))?.type }
        #expect(publish(1) == "result")
        #expect(publish(1) == "result")
        stage.apns.script(token(9), LabAPNs.reply(410, "Unregistered"))

        try stage.limitFiles(to: 1)
        #expect(publish(2) == "result")
        // Not on the disk, so not promised.
        #expect(publish(2) == "wait")
        #expect(publish(9) == "cancel")
        let ready = try await stage.page("/readyz")
        #expect(ready.status == 503)
        #expect(ready.text.contains("database: cannot be written"))
        #expect(try await stage.page("/healthz").status == 200)
        #expect(try await stage.metric("database_up") == 0)
        #expect(try await stage.metric("database_backlog") > 0)
        // In memory all the same.
        #expect(xmpp.wait { stage.apns.requests(for: token(2)) == 2 })

        try stage.limitFiles(to: nil)
        #expect(xmpp.wait { stage.apns.requests(for: token(1)) == 2 })
        #expect(try await until { try await stage.page("/readyz").status == 200 })
        #expect(try await until { try await stage.metric("database_backlog") == 0 })
        stage.kill()
        xmpp.wait { !xmpp.isReady }
        try stage.start()
        #expect(xmpp.wait { xmpp.isReady })
        #expect(publish(9) == "cancel")
        #expect(stage.apns.requests(for: token(9)) == 1)
        // No sent push is sent again: nothing waits any more.
        #expect(try await until { try await stage.metric("queued") == 0 })
        #expect(try await until { try await stage.metric("in_flight") == 0 })
        #expect(stage.apns.requests(for: token(1)) == 2 && stage.apns.requests(for: token(2)) == 2)
    }
}
