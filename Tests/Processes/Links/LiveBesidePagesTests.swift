import Foundation
import KalijLab
import TestSupport
import Testing

/// While much is read again from the archive on a slow line, nobody waits for that.
@Suite(.serialized) struct LiveBesidePagesTests {
    @Test(
        "what comes now, and a question, take 3 s while the archive is read",
        .enabled(if: LongForm.runs("slow-links"), "takes a minute each"), arguments: LongForm.servers)
    func live(_ kind: ServerKind) async throws {
        let count = 1000
        let world = try await SlowWorld.waiting(count, kind)
        defer { world.close() }
        let run = try world.kalij.running()
        let areAll = try await until(every: 250) { try run.bodies().count >= count }
        #expect(areAll)
        try await measure(world, run)
        #expect(run.end(SIGTERM).status == 0)
    }

    /// Messages that come now, while what was missed is still read again from the archive, and the question whether somebody is there.
    private func measure(_ world: SlowWorld, _ run: Running) async throws {
        var times: [Double] = []
        let rounds = 100
        for number in 0..<rounds {
            let start = SlowWay.now()
            try await world.world.send(["live \(number)"])
            let isShown = try await until(every: 20) { try run.bodies().contains("live \(number)") }
            #expect(isShown)
            times.append(SlowWay.now() - start)
        }
        for _ in 0..<(rounds / 4) {
            let start = SlowWay.now()
            #expect(try world.kalij("ping", "localhost").status == 0)
            times.append(SlowWay.now() - start)
        }
        print("\(world.server.kind): live and ping: \(times.sorted())")
        #expect(times.count { $0 < 3 } >= times.count * 99 / 100, "\(world.server.kind): \(times.sorted())")
    }
}
