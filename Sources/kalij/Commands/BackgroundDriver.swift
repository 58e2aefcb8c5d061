import CLinux
import Glibc
import KalijClient
import KalijCoordination
import KalijTransport
import Synchronization

/// Drives on a thread of its own while no other process does, and another thread waits for input.
final class BackgroundDriver: Sendable {
    /// The state as seen by the waiting thread.
    struct State {
        /// Whether another process drives.
        var isHandedOver = false
        /// Whether the thread waits for the next attempt.
        var isPausing = false
        /// Whether the thread has ended.
        var isOver = false
        /// How often the state of a message has changed.
        var changes = 0
        /// Why this process is not online, if the reason has been determined.
        var failure: Failure?
    }

    private struct Contents {
        var state = State()
        var isToEnd = false
        var stop: (@Sendable () -> Void)?
    }

    private let contents = Mutex(Contents())
    /// Readable after a change of the state.
    let descriptor: Int32

    /// Seconds until the next attempt, for example on a full disk.
    private static let pause: UInt32 = 5

    init() throws {
        descriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        if descriptor < 0 { throw Failure(.temporaryFailure, "eventfd: \(String(cString: strerror(errno)))") }
    }

    deinit { close(descriptor) }

    /// The current state; ``descriptor`` becomes readable again after the next change.
    var state: State {
        var count: UInt64 = 0
        _ = read(descriptor, &count, MemoryLayout<UInt64>.size)
        return contents.withLock { $0.state }
    }

    func start(_ shared: SharedOptions, of account: String) throws {
        _ = try JoinableThread { [self] in
            drive(shared, of: account)
            change { $0.state.isOver = true }
        }
    }

    /// Stops the engine in an orderly manner; ``State/isOver`` indicates that the thread has ended.
    func end() {
        let stop = contents.withLock { contents in
            contents.isToEnd = true
            return contents.stop
        }
        stop?()
    }

    /// Ends the thread, and waits until it has released the fence. While another process drives, there is nothing to release.
    func end(within seconds: Double) {
        end()
        let deadline = Clock.system.monotonic() + Int64(seconds * 1e9)  // fits: less than a minute
        var state = state
        while !state.isOver, !state.isHandedOver, !state.isPausing, Clock.system.monotonic() < deadline {
            var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            poll(&request, 1, 100)
            state = self.state
        }
    }

    private func change(_ body: (inout Contents) -> Void) {
        contents.withLock { body(&$0) }
        var one: UInt64 = 1
        _ = write(descriptor, &one, MemoryLayout<UInt64>.size)
    }

    private var isToEnd: Bool { contents.withLock { $0.isToEnd } }

    private func drive(_ shared: SharedOptions, of account: String) {
        while !isToEnd {
            let progress = Progress(of: account, endsUnreached: false)
            let outcome = BackgroundSender.send(
                shared, progress, within: nil, signals: [],
                mayEnd: { [self] in isToEnd },
                told: { [self, weak progress] event in
                    let problem = progress?.problem.map { Failure(.unavailable, $0) }
                    let isChange = event.content is MessageStateChanged
                    change { contents in
                        contents.state.failure = problem
                        contents.state.changes &+= isChange ? 1 : 0
                    }
                },
                began: { [self] in begin($0) })
            change { $0.stop = nil }
            switch outcome {
            // A process with precedence requested the fence, so it drives first.
            case .driven where !isToEnd && !hasSuccessor(shared.directory): pause()
            case .driven: break
            case .handedOver: listen(shared.directory)
            case .failed(let failure):
                change { $0.state.failure = failure }
                guard failure.status == .temporaryFailure, !isToEnd else { return }
                pause()
            }
        }
    }

    private func hasSuccessor(_ directory: AccountDirectory) -> Bool {
        for _ in 0..<50 where !isToEnd {
            usleep(20_000)  // no subscription is possible before the other process listens
            if Doorbell.bell(directory: directory.path) != nil { return true }
        }
        return false
    }

    private func pause() {
        change { $0.state.isPausing = true }
        sleep(Self.pause)
        change { $0.state.isPausing = false }
    }

    private func begin(_ engine: Engine) {
        let waker = engine.loop.waker
        // Accessed on the loop's thread only: the waker forwards the call there.
        nonisolated(unsafe) weak let engine = engine
        let stop: @Sendable () -> Void = { waker.enqueue { engine?.stop() } }
        change { contents in
            contents.stop = stop
            contents.state.isHandedOver = false
            contents.state.failure = nil
        }
        if isToEnd { stop() }
    }

    /// Waits for the driver; returns once no process drives.
    private func listen(_ directory: AccountDirectory) {
        guard let subscription = Doorbell.subscription(directory: directory.path) else {
            usleep(20_000)  // the driver is just starting or just ending
            return
        }
        while true {
            change { contents in
                contents.state.isHandedOver = true
                contents.state.failure = nil
            }
            if case .end = subscription.wait(seconds: 3600) { break }
        }
        change { $0.state.isHandedOver = false }
    }
}
