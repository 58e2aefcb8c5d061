import Testing

@testable import KalijEngine
@testable import KalijCore
@testable import KalijClient
@testable import KalijTransport

/// The length of a `wake` run, in simulated time.
struct WakeSessionTests {
    /// Time that jumps from timer to timer.
    private final class SimulatedTime: Scheduler {
        private(set) var now = 0.0
        private var timers: [Timer] = []

        @discardableResult
        func schedule(after seconds: Double, _ body: @escaping () -> Void) -> Timer {
            let timer = Timer(loop: nil, deadline: now + seconds, order: UInt64(timers.count), body: body)
            timers.append(timer)
            return timer
        }

        func enqueue(_ body: @escaping () -> Void) { schedule(after: 0, body) }

        func run() {
            while let next = timers.filter({ $0.body != nil }).min(by: {
                ($0.deadline, $0.order) < ($1.deadline, $1.order)
            }) {
                now = next.deadline
                let body = next.body
                next.body = nil
                body?()
            }
        }
    }

    /// When a run ends, and how.
    private func end(caughtUpAt: Double, preparedAt: Double) -> (seconds: Double, Engine.Ending)? {
        let time = SimulatedTime()
        let run = WakeSession(loop: time, budget: 25, elapsed: 0)
        var end: (Double, Engine.Ending)?
        run.isCaughtUp = { end != nil || time.now >= caughtUpAt }
        run.isPreparing = { time.now < preparedAt }
        run.finish = { if end == nil { end = (time.now, $0) } }
        run.begin()
        time.run()
        return end
    }

    @Test(
        "a run ends after a silence of 1.5 s, waits up to 8 s for rooms that are being entered, and up to its budget for messages"
    )
    func length() throws {
        for (caughtUp, prepared, seconds, ending) in [
            (0, 0, 1.5...1.5, Engine.Ending.stopped), (0, 4, 4...4.25, .stopped), (5, 0, 5...5.25, .stopped),
            (0, .infinity, 8...8.25, .stopped), (10, .infinity, 10...10.25, .stopped),
            (.infinity, 0, 23...25, .unfinished),
        ] as [(Double, Double, ClosedRange<Double>, Engine.Ending)] {
            let outcome = try #require(end(caughtUpAt: caughtUp, preparedAt: prepared))
            #expect(seconds.contains(outcome.seconds) && outcome.1 == ending, "\(caughtUp), \(prepared): \(outcome)")
        }
    }
}
