import Foundation
import KalijLab
import TestSupport
import Testing

/// Many messages wait at the other end of a slow line.
@Suite(.serialized) struct WaitingMessageTests {
    @Test(
        "they come on one connection, each once", .enabled(if: LongForm.runs("slow-links"), "takes a minute each"),
        arguments: LongForm.servers)
    func waiting(_ kind: ServerKind) async throws {
        let count = 1000
        let world = try await SlowWorld.waiting(count, kind)
        defer { world.close() }
        let before = try world.way.connections()
        let run = try world.kalij.running()
        let areAll = try await until(every: 250) { try run.bodies().count >= count }
        let bodies = try run.bodies()
        #expect(areAll && Set(bodies).count == count && bodies.count == count, "\(kind): \(bodies.count)")
        let connections = try world.way.connections() - before
        #expect(connections == 1, "\(kind): \(connections) connections")
        let counts = try await world.way.counts(after: before)
        print("\(kind): \(count) messages, \(counts.reduce(0) { $0 + ($1.down ?? 0) }) bytes down")
        #expect(run.end(SIGTERM).status == 0)
    }
}
