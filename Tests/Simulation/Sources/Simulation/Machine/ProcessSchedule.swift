@testable import KalijClient
@testable import KalijTransport

/// A process's event loop, in simulated time.
final class ProcessSchedule: Schedule {
    private weak var process: SimulatedProcess?
    private var order: UInt64 = 0
    private var timers: [UInt64: Timer] = [:]

    init(_ process: SimulatedProcess) { self.process = process }

    @discardableResult
    func schedule(after seconds: Double, _ body: @escaping () -> Void) -> Timer {
        order += 1
        let order = order
        let timer = Timer(loop: nil, deadline: seconds, order: order, body: body)
        timers[order] = timer
        process?.world.after(Int64(seconds * 1_000_000)) { [weak self, weak process] in
            process?.perform {
                guard let timer = self?.timers.removeValue(forKey: order), let body = timer.body else { return }
                timer.body = nil
                body()
            }
        }
        return timer
    }

    func enqueue(_ body: @escaping () -> Void) { schedule(after: 0, body) }

    /// What was planned will not happen.
    func clear() {
        for timer in timers.values { timer.body = nil }
        timers = [:]
    }
}
