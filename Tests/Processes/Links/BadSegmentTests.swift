import Foundation
import KalijLab
import TestSupport
import Testing

/// A line that is worse than slow: no connection that lives is given up.
@Suite(.serialized) struct BadSegmentTests {
    @Test("2 % of the segments come 1 s late: each session is resumed on a single connection")
    func late() async throws {
        let world = try await SlowWorld(.prosody)
        defer { world.close() }
        try await world.settle()
        try await world.way.slow()
        try await world.way.tell("late 2 1 20")
        let before = try world.way.connections()
        let rounds = LongForm.amount("slow-links", short: 2)
        var times: [Double] = []
        for _ in 0..<rounds {
            let cost = try await world.reconnect()
            times.append(try #require(cost).seconds)
        }
        times.sort()
        print("2 % late: \(times)")
        if LongForm.runs("slow-links") { #expect(times[rounds - 1] < times[rounds / 2] + 2.5, "\(times)") }
        #expect(try world.way.connections() - before == rounds, "one connection each")
    }

    @Test(
        "a line that falls to 8 kbit/s is not given up, nor one that stalls for 30 s, nor one that is silent one way for 20 s",
        .enabled(if: LongForm.runs("slow-links"), "takes two minutes")
    )
    func falling() async throws {
        let world = try await SlowWorld(.ejabberd)
        defer { world.close() }
        try await world.settle()
        try await world.way.slow()
        let run = try world.kalij.running()
        try await run.event("online")
        let before = try world.way.connections()
        try await world.way.tell("rate 1000")
        try await world.world.send((0..<20).map { "at 8 kbit/s \($0)" })
        try await shown(20, "at 8 kbit/s", run, world, since: before)
        try await world.way.tell("rate 4000")
        try await world.way.tell("stall 30")
        try await world.world.send(["behind the stall 0"])
        try await shown(1, "behind the stall", run, world, since: before)
        for way in ["up", "down"] {
            try await world.way.tell("lose \(way)")
            try await world.world.send(["without \(way) 0"])
            try await sleep(for: .seconds(20))
            try await world.way.tell("find")
            try await shown(1, "without \(way)", run, world, since: before)
            // What was asked meanwhile is answered: two silences of 20 s are none of 40.
            #expect(try world.kalij("ping", "localhost", "--wait", "300").status == 0)
        }
        #expect(run.end(SIGTERM).status == 0)
    }

    private func shown(_ count: Int, _ body: String, _ run: Running, _ world: SlowWorld, since before: Int) async throws
    {
        let areShown = try await until(every: 100) { try run.bodies().count { $0.hasPrefix(body) } == count }
        let last = try run.bodies().suffix(3)
        #expect(areShown, "\(body): \(last)")
        let reasons = try run.events().compactMap {
            $0["event"] as? String == "offline" ? $0["reason"] as? String : nil
        }
        #expect(try world.way.connections() == before, "\(body): a connection was given up: \(reasons)")
    }
}

extension Running {
    /// Whether an event was told.
    func says(_ event: String) throws -> Bool { try events().contains { $0["event"] as? String == event } }

    /// The bodies of messages that were shown.
    func bodies() throws -> [String] {
        try events().filter { $0["event"] as? String == "message" }.compactMap { $0["body"] as? String }
    }
}
