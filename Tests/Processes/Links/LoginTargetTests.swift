import Foundation
import KalijLab
import TestSupport
import Testing

/// What a reconnect may cost on a slow line. The bounds stand here, and nowhere else.
///
/// Three of the bytes up are more than first hoped for: SCRAM-PLUS with `<resume/>` and `<bind/>` in one flight says 100 bytes of binding;
/// ejabberd's long ids and its question for a certificate cost 70 bytes more than Prosody's; and the ticket has 270.
private struct Target: Sendable, CustomStringConvertible {
    let kind: ServerKind
    let isNewer: Bool
    var isDirect = false
    var oneFlight = false
    var tickets = false
    let trips: Int
    let seconds: Double
    let up: Int
    let down: Int

    var description: String {
        "\(kind) of Debian \(isNewer ? 13 : 12), \(isDirect ? "direct" : "STARTTLS")\(oneFlight ? ", FAST" : "")\(tickets ? ", ticket" : "")"
    }

    static let all = [
        Target(kind: .prosody, isNewer: false, trips: 5, seconds: 4.2, up: 1350, down: 5000),
        Target(kind: .prosody, isNewer: false, isDirect: true, trips: 4, seconds: 3.6, up: 1350, down: 5000),
        Target(kind: .ejabberd, isNewer: false, trips: 6, seconds: 4.8, up: 1400, down: 5200),
        Target(kind: .ejabberd, isNewer: false, isDirect: true, trips: 5, seconds: 4.1, up: 1400, down: 5200),
        Target(kind: .ejabberd, isNewer: true, isDirect: true, trips: 4, seconds: 3.6, up: 1350, down: 5100),
        Target(
            kind: .prosody, isNewer: true, isDirect: true, oneFlight: true, trips: 3, seconds: 3.0, up: 1000, down: 5000
        ),
        Target(
            kind: .ejabberd, isNewer: true, isDirect: true, oneFlight: true, trips: 3, seconds: 3.0, up: 1070,
            down: 5000),
        Target(
            kind: .prosody, isNewer: true, isDirect: true, oneFlight: true, tickets: true, trips: 3, seconds: 2.4,
            up: 1270, down: 2500),
    ]
}

/// Logging in again, counted by the line. `Scripts/long slow-links 30` judges the seconds, too.
@Suite(.serialized) struct LoginTargetTests {
    @Test(
        "connect to <resumed/> keeps the bounds on all four servers: round trips and bytes; in the long form the median of 30 and the seconds"
    )
    func targets() async throws {
        let newer = newerServers(leavingOut: "logins at them")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for target in Target.all where newer != nil || !target.isNewer {
                group.addTask { try await measure(target, newer) }
            }
            try await group.waitForAll()
        }
    }

    private func measure(_ target: Target, _ newer: DebianRelease?) async throws {
        var options = ServerOptions()
        (options.oneFlight, options.tickets) = (target.oneFlight, target.tickets)
        let world = try await SlowWorld(
            target.kind, release: target.isNewer ? newer ?? .installed : .installed, isDirect: target.isDirect,
            options: options)
        defer { world.close() }
        // The second resumes by what the first has learned.
        try await world.settle()
        try await world.settle()
        try await world.way.slow()
        var costs: [SlowWay.Cost] = []
        for _ in 0..<LongForm.amount("slow-links", short: 1) {
            let cost = try await world.reconnect()
            costs.append(try #require(cost, "\(target): not resumed"))
        }
        let median: ((SlowWay.Cost) -> Double) -> Double = { value in costs.map(value).sorted()[costs.count / 2] }
        let figures = "\(target): \(costs[costs.count / 2])"
        print(figures)
        #expect(median { Double($0.trips) } <= Double(target.trips), "\(figures)")
        #expect(median { Double($0.up) } <= Double(target.up), "\(figures)")
        #expect(median { Double($0.down) } <= Double(target.down), "\(figures)")
        if LongForm.runs("slow-links") { #expect(median(\.seconds) <= target.seconds, "\(figures)") }
    }
}
