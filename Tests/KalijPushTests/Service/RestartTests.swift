import KalijPush
import Testing

@Suite("After a restart")
struct RestartTests {
    private func restarted(_ rows: [QueuedPush], now: Milliseconds) throws -> (Drill, [String]) {
        var drill = try Drill()
        drill.now = now
        let actions = drill.core.restore(queued: rows, blocks: [], now: now)
        return (drill, drill.words(actions))
    }

    @Test("a queued push survives a restart, and goes out when due")
    func survives() throws {
        let now: Milliseconds = 1_700_000_000_000
        let row = QueuedPush(id: 7, module: "m", token: Drill.token, isImportant: true, due: now + 5_000)
        var (drill, dropped) = try restarted([row], now: now)
        #expect(dropped == [])
        #expect(drill.publish() == ["answer 1 done"])
        #expect(drill.pass(5_000) == ["keep 7 attempts 1 important", "send 7"])
        #expect(drill.deliver(.delivered, 7) == ["drop 7"])
        #expect(drill.publish("other") == ["send 8"])
    }

    @Test("pushes in flight may go out twice, never more")
    func twice() throws {
        let now: Milliseconds = 1_700_000_000_000
        let once = QueuedPush(id: 1, module: "m", token: "a", isImportant: true, due: now - 9, attempts: 1)
        let two = QueuedPush(id: 2, module: "m", token: "b", isImportant: true, due: now - 9, attempts: 2)
        var (drill, dropped) = try restarted([once, two], now: now)
        #expect(dropped == ["drop 2"])
        #expect(drill.pass(0) == ["keep 1 attempts 2 important", "send 1"])
        #expect(drill.deliver(.transient("reset"), 1) == ["drop 1"])
    }

    @Test("a row from a clock far ahead is not kept for ever, a row of an unknown module is dropped")
    func odd() throws {
        let now: Milliseconds = 1_700_000_000_000
        let future = QueuedPush(id: 1, module: "m", token: "a", isImportant: true, due: now * 2)
        let unknown = QueuedPush(id: 2, module: "gone", token: "a", isImportant: true, due: now)
        var (drill, dropped) = try restarted([future, unknown], now: now)
        #expect(dropped == ["drop 2"])
        #expect(drill.pass(3_600_000).contains("send 1"))
    }

    @Test("a token with a success in 7 days is not new after a restart")
    func known() throws {
        var drill = try Drill { $0.limits.newTokenFailures = 1 }
        let hasher = try KeyHasher(secret: [UInt8](repeating: 7, count: 32))
        let successes = [("recent", 6), ("old", 8)].map { token, days in
            (key: hasher.key(token: token, module: "m"), at: drill.now - Milliseconds(days) * 86_400_000)
        }
        _ = drill.core.restore(queued: [], blocks: [], known: successes, now: drill.now)
        _ = drill.publish("dead")
        _ = drill.deliver(.dead, 1)
        #expect(drill.publish("recent") == ["send 2"])
        #expect(drill.publish("old") == ["answer 3 refused"])
    }

    @Test(
        "blocks survive; a block lasts no longer than our longest block, and one of a clock far ahead counts not at all"
    )
    func blocks() throws {
        var drill = try Drill()
        let hasher = try KeyHasher(secret: [UInt8](repeating: 7, count: 32))
        let key = hasher.key(token: Drill.token, module: "m")
        let block = BlockChange(
            key: key, version: BlockChange.version(at: drill.now), expires: drill.now * 2, reason: .dead)
        let mad = BlockChange(
            key: hasher.key(token: "other", module: "m"), version: BlockChange.version(at: drill.now * 2),
            expires: drill.now * 2 + 1_000, reason: .dead)
        _ = drill.core.restore(queued: [], blocks: [block, mad], now: drill.now)
        #expect(drill.publish() == ["answer 1 dead"])
        _ = drill.pass(432_000_000)
        #expect(drill.publish() == ["send 1"])
        #expect(drill.publish("other") == ["send 2"])
    }
}
