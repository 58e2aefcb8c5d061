import KalijCore
import KalijEngine
import KalijFeatures
import KalijTransport
import Synchronization

/// The thread of a ``RunningEngine``: runs its engines, one after the other, and the jobs that other threads submit.
final class EngineThread: Sendable {
    /// Receives the engine, on its thread; or nil, on any thread, if no engine runs.
    typealias Job = @Sendable (Engine?) -> Void

    private struct State {
        /// The waker of the running engine.
        var waker: Waker?
        var jobs: [Job] = []
        /// While no engine runs: ends the wait for the thaw.
        var thaw: Waker?
        var isStopped = false
        /// The callers that wait until the process holds no lock.
        var freezing: [Future<Void>] = []
    }

    private let state = Mutex(State())
    let hub = EventHub()
    let presenter = NotificationPresenter()
    /// Resolved once an engine drives the directory.
    private let began = Future<Void>()
    private let ended = Future<Engine.Ending>()
    private let thread = Mutex<JoinableThread?>(nil)

    /// The engine, for jobs.
    // Accessed on the engine's thread only: wakers forward the request there.
    private final class Slot: @unchecked Sendable { weak var engine: Engine? }
    private let slot = Slot()

    func start(_ directory: AccountDirectory, _ options: sending Engine.Options, _ clock: Clock) throws {
        var options = options
        options.presenter = presenter
        let started = try JoinableThread { [self, options] in
            end(Result { try drive(directory, options, clock) })
        }
        thread.withLock { $0 = started }
    }

    private func drive(
        _ directory: AccountDirectory, _ options: Engine.Options, _ clock: Clock
    ) throws -> Engine.Ending {
        defer { finished() }
        return try Engine.drive(
            directory, options: options, clock: clock, onEvent: { [hub] in hub.send($0) }, frozen: awaitThaw,
            began: begin)
    }

    // MARK: On the engine's thread

    private func begin(_ engine: Engine) {
        // An engine whose fence was taken over ends without a notification.
        finished()
        slot.engine = engine
        let waker = engine.loop.waker
        presenter.open { [slot] in waker.enqueue { slot.engine?.signal(NotificationOutput.feature) } }
        let (isStopped, isFreezing) = state.withLock { state in
            state.waker = waker
            return (state.isStopped, !state.freezing.isEmpty)
        }
        if isStopped { engine.stop() } else if isFreezing { engine.prepareForFreeze() }
        began.resolve(.success(()))
    }

    private func finished() {
        slot.engine = nil
        presenter.pause()
        let jobs = state.withLock { state in
            state.waker = nil
            defer { state.jobs = [] }
            return state.jobs
        }
        jobs.forEach { $0(nil) }
    }

    /// - Returns: false if the engine was stopped meanwhile.
    private func awaitThaw() throws -> Bool {
        finished()
        let pause = try EventLoop()
        let (isStopped, freezing) = state.withLock { state in
            state.thaw = pause.waker
            defer { state.freezing = [] }
            return (state.isStopped, state.freezing)
        }
        freezing.forEach { $0.resolve(.success(())) }
        if !isStopped { pause.run() }
        return state.withLock { state in
            state.thaw = nil
            return !state.isStopped
        }
    }

    private func end(_ result: Result<Engine.Ending, any Error>) {
        let freezing = state.withLock { state in
            state.isStopped = true
            defer { state.freezing = [] }
            return state.freezing
        }
        presenter.end()
        hub.end()
        ended.resolve(result)
        began.resolve(result.map { _ in () })
        freezing.forEach { $0.resolve(.success(())) }
    }

    // MARK: From any thread

    /// Waits until an engine drives the directory.
    /// - Throws: the error that ended the thread before; the thread no longer exists then.
    func waitUntilBegun() async throws {
        do { try await began.value() } catch {
            joinIfEnded()
            throw error
        }
    }

    /// Waits until the thread no longer exists: the process may exit then.
    func waitUntilEnded() async throws -> Engine.Ending {
        defer { joinIfEnded() }
        return try await ended.value()
    }

    /// A cancelled wait does not join.
    private func joinIfEnded() {
        guard ended.isResolved else { return }
        thread.withLock { $0 }?.join()
    }

    /// Runs `job` on the engine's thread; jobs run in the order of the calls.
    func submit(_ job: @escaping Job) {
        let waker = state.withLock { state in
            if state.waker != nil { state.jobs.append(job) }
            return state.waker
        }
        guard let waker else { return job(nil) }
        waker.enqueue { [self] in work() }
    }

    private func work() {
        let jobs = state.withLock { state in
            defer { state.jobs = [] }
            return state.jobs
        }
        for job in jobs { job(slot.engine) }
    }

    /// Ends the running engine, or the wait for the thaw.
    func stop() {
        let thaw = state.withLock { state in
            state.isStopped = true
            return state.thaw
        }
        thaw?.stop()
        submit { $0?.stop() }
    }

    /// Releases all resources; returns once nothing is locked.
    func freeze() async throws {
        let frozen = Future<Void>()
        let isRunning = state.withLock { state in
            guard !state.isStopped, state.thaw == nil else { return false }
            state.freezing.append(frozen)
            return true
        }
        guard isRunning else { return }
        submit { $0?.prepareForFreeze() }
        try await frozen.value()
    }

    func thaw() {
        let thaw = state.withLock { $0.thaw }
        if let thaw { thaw.stop() } else { submit { $0?.didThaw() } }
    }
}
