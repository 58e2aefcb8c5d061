import Testing

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// Rules.md, durability 6: a connection that ends between <resume/> and its answer twice in a row, or once with a stream error,
/// counts as a failed resume without h (measured: Prosody 0.12 after its queue limit, and for a stale h). The first of these
/// connections does not count if its <resume/> left before the features had come: that may have been too early.
struct LostSessionTests {
    @Test(
        "a session whose resumption is never answered is given up",
        arguments: [("close", 5), ("error", 4), ("refuse", 2)])
    func unanswered(_ answer: String, _ connections: Int) throws {
        let server = try ScriptedServer("--on-resume", answer, "--late", "garbage")
        let drive = try EngineFixture(server)
        try drive.run { _, _ in drive.told.count { $0 == "online" } == 2 }
        #expect(drive.told.count { $0 == "online" } == 2, "\(drive.told)")
        #expect(drive.told.count { $0 == "connecting" } == connections, "\(drive.told)")
        #expect(drive.told.count { $0 == "resumed" } == 0)
    }
}
