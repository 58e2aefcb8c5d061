import Foundation
import KalijStore
import KalijTransport
import Testing

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// A server that sends garbage, a DTD, a stanza of 100 MB, or nothing at all: a clear reason, memory within limits,
/// another attempt later.
struct BadServerTests {
    @Test(
        "data that is no stream ends the connection with a reason, and the next connection is tried",
        arguments: [
            ("garbage", "not usable"), ("dtd", "not usable"), ("huge", "is no XMPP stream"),
            ("silent", "no session after"),
            ("header-only", "no session after"), ("wrong-namespace", "stream"),
        ])
    func instead(_ mode: String, _ reason: String) throws {
        let server = try ScriptedServer(mode)
        let drive = try EngineFixture(server)
        let timing = reason == "no session after" ? EngineFixture.impatientTiming : EngineFixture.timing
        try drive.run(timing: timing) { _, _ in drive.told.count { $0 == "connecting" } == 2 }
        #expect(drive.told.prefix(1) == ["connecting"])
        #expect(try #require(drive.reasons.first).contains(reason), "\(drive.reasons)")
        #expect(drive.told.count { $0 == "connecting" } == 2)
    }

    @Test("within a session the same, and the next session comes up", arguments: ["garbage", "dtd"])
    func late(_ mode: String) throws {
        let server = try ScriptedServer("--late", mode)
        let drive = try EngineFixture(server)
        try drive.run { _, _ in drive.told.count { $0 == "online" } == 2 }
        #expect(drive.told.count { $0 == "online" } == 2)
        #expect(drive.reasons.contains { $0.contains("not usable") }, "\(drive.reasons)")
    }

    @Test("a stanza of 100 MB ends the stream")
    func huge() throws {
        let server = try ScriptedServer("--late", "huge")
        let drive = try EngineFixture(server)
        try drive.run { _, event in event.short.hasPrefix("offline") }
        #expect(try #require(drive.reasons.first).contains("policy-violation"), "\(drive.reasons)")
        #expect(try drive.number("SELECT count(*) FROM quarantine") == 0)
    }
}
