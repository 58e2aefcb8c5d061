import Foundation
import KalijLab
import TestSupport
import Testing

/// What a queued message waits for, as `kalij history` and `chats` print it.
@Suite(.serialized) struct WaitsForTests {
    @Test("a message waits for a driver, then for a connection with the reason, and once it has left for nothing")
    func causes() async throws {
        let world = try await World()
        defer { world.close() }
        try await world.online()
        await world.server.stop()
        #expect(try world.kalij("send", "--queue-only", "bob@localhost", "hello").status == 0)
        #expect(try waiting(world) == ["driver", nil])
        #expect(
            try world.kalij("history", "bob@localhost").output.contains("[queued] (waits for a driving process): hello")
        )

        let run = try world.kalij.running()
        let isOffline = try await until(every: 100) {
            let waits = try waiting(world)
            return waits.first == "connection" && waits.last.map { $0 != nil } ?? false
        }
        #expect(isOffline)
        #expect(try world.kalij("history", "bob@localhost").output.contains("[queued] (waits for a connection: "))
        let chat = try world.kalij("--json", "chats").objects().first?["last"] as? [String: Any]
        #expect(chat?["waits_for"] as? String == "connection")
        let found = try world.kalij("--json", "search", "hello").objects()
        #expect(found.first?["waits_for"] as? String == "connection")

        // Without the driver there is no connection either, and nobody has a reason.
        #expect(run.end(SIGKILL).status == SIGKILL)
        #expect(try waiting(world) == ["connection", nil])

        try await world.server.start()
        let again = try world.kalij.running()
        #expect(try await until(every: 100) { try waiting(world) == [nil, nil] })
        #expect(again.end(SIGTERM).status == 0)
    }

    /// `waits_for` and `wait_reason` of the only message.
    private func waiting(_ world: World) throws -> [String?] {
        let messages = try world.kalij("--json", "history", "bob@localhost").objects().filter {
            $0["event"] as? String == "message"
        }
        #expect(messages.count == 1, "\(messages)")
        return ["waits_for", "wait_reason"].map { messages.first?[$0] as? String }
    }
}
