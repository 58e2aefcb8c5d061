import Glibc

@testable import KalijEngine
@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore
@testable import KalijTransport

/// A process's event loop, in simulated time. Descriptors are real: sockets between the processes of a directory, looked at when
/// something may have happened to them.
final class ProcessSchedule: EngineLoop {
    private weak var process: SimulatedProcess?
    private var order: UInt64 = 0
    private var timers: [UInt64: Timer] = [:]
    private var watches: [Watch] = []

    init(_ process: SimulatedProcess) { self.process = process }

    var now: Double { Double(process?.world.now ?? 0) / 1_000_000 }

    @discardableResult
    func schedule(after seconds: Double, _ body: @escaping () -> Void) -> Timer {
        order += 1
        let order = order
        let timer = Timer(loop: nil, deadline: seconds, order: order, body: body)
        timers[order] = timer
        process?.world.after(Int64(seconds * 1_000_000)) { [weak self, weak process] in
            // Most timers were cancelled: a cancelled timer is no turn of the process.
            guard let self, let timer = timers[order], timer.body != nil else {
                self?.timers[order] = nil
                return
            }
            process?.perform {
                guard let timer = self.timers.removeValue(forKey: order), let body = timer.body else { return }
                timer.body = nil
                body()
            }
        }
        return timer
    }

    func enqueue(_ body: @escaping () -> Void) { schedule(after: 0, body) }

    func watch(_ fd: Int32, _ interest: Interest, _ handler: @escaping (Readiness) -> Void) throws -> Watch {
        let watch = Watch(loop: nil, descriptor: fd, token: 0, interest: interest, handler: handler)
        watches.append(watch)
        return watch
    }

    /// Calls the handlers of ready descriptors.
    /// - Returns: whether any descriptor was ready.
    func look() -> Bool {
        watches.removeAll { $0.handler == nil }
        guard !watches.isEmpty else { return false }
        var polled = watches.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        guard poll(&polled, nfds_t(polled.count), 0) > 0 else { return false }
        let ready = zip(watches, polled).filter { $0.1.revents != 0 }.map(\.0)
        for watch in ready { process?.perform { watch.handler?(.readable) } }
        return true
    }

    /// The turns are the world's.
    func run() {}
    func stop() { process?.engineStopped() }

    /// Drops all plans.
    func clear() {
        for timer in timers.values { timer.body = nil }
        timers = [:]
        watches = []
    }
}
