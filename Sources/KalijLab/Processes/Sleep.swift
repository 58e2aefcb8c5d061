import Glibc
import Synchronization

/// Suspends the task for `duration`, on a timer thread of the laboratory's own.
///
/// Tests do not depend on libdispatch's timers, which `Task.sleep` does (`Documentation/Testing.md`).
/// - Throws: `CancellationError` as soon as the task is cancelled.
public func sleep(for duration: Duration) async throws {
    let number = SleepTimer.shared.nextNumber()
    try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation { continuation in
            SleepTimer.shared.add(number, until: ContinuousClock.now + duration, continuation)
        }
    } onCancel: {
        SleepTimer.shared.cancel(number)
    }
}

/// The suspended tasks, and the thread that resumes them.
private final class SleepTimer: Sendable {
    typealias Continuation = CheckedContinuation<Void, any Error>

    private struct State {
        var last = 0
        var sleeping: [Int: (end: ContinuousClock.Instant, continuation: Continuation)] = [:]
        /// Cancelled before they were added.
        var cancelled: Set<Int> = []
    }

    static let shared = SleepTimer()

    private let state = Mutex(State())
    /// A byte in the pipe ends the thread's waiting.
    private let (reading, writing): (Int32, Int32)

    private init() {
        let ends = (try? makePipe()) ?? (reading: -1, writing: -1)
        for end in [ends.reading, ends.writing] { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
        (reading, writing) = ends
        var thread = pthread_t()
        pthread_create(&thread, nil, { _ in SleepTimer.shared.run() }, nil)
        pthread_detach(thread)
    }

    func nextNumber() -> Int {
        state.withLock {
            $0.last += 1
            return $0.last
        }
    }

    func add(_ number: Int, until end: ContinuousClock.Instant, _ continuation: Continuation) {
        let isCancelled = state.withLock { state in
            guard state.cancelled.remove(number) == nil else { return true }
            state.sleeping[number] = (end, continuation)
            return false
        }
        guard !isCancelled else { return continuation.resume(throwing: CancellationError()) }
        var byte: UInt8 = 0
        // A full pipe wakes the thread as well.
        _ = write(writing, &byte, 1)
    }

    func cancel(_ number: Int) {
        let continuation = state.withLock { state in
            let sleeping = state.sleeping.removeValue(forKey: number)
            if sleeping == nil { state.cancelled.insert(number) }
            return sleeping?.continuation
        }
        continuation?.resume(throwing: CancellationError())
    }

    private func run() -> Never {
        while true {
            let (ended, next) = takeEnded()
            for continuation in ended { continuation.resume() }
            var descriptor = pollfd(fd: reading, events: Int16(POLLIN), revents: 0)
            // fits: a minute at most
            poll(&descriptor, 1, next.map { Int32(min($0 / .milliseconds(1), 60_000).rounded(.up)) } ?? -1)
            var bytes = [UInt8](repeating: 0, count: 512)
            _ = read(reading, &bytes, bytes.count)
        }
    }

    /// The tasks whose time is over, and the time until the next one's.
    private func takeEnded() -> (ended: [Continuation], next: Duration?) {
        let now = ContinuousClock.now
        return state.withLock { state in
            let ended = state.sleeping.filter { $0.value.end <= now }
            for number in ended.keys { state.sleeping[number] = nil }
            return (ended.values.map(\.continuation), state.sleeping.values.map(\.end).min().map { $0 - now })
        }
    }
}
