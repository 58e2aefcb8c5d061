import Dispatch
import KalijTransport
import Synchronization

/// A login, or a registration, on a thread of its own, which a task cancels.
final class RunningLogin: Sendable {
    private struct State {
        var waker: Waker?
        var prompt: Task<Void, Never>?
        var isCancelled = false
    }

    private let state = Mutex(State())
    /// Accessed on the login's thread only: the waker forwards the call there.
    private nonisolated(unsafe) weak var login: Login?

    /// Runs `body` on a thread of its own.
    /// - Throws: the error of `body`; `EngineError.noThread`; `CancellationError` as soon as the task is cancelled, which also ends
    ///   the connection.
    static func perform<Value: Sendable>(_ body: @escaping @Sendable (RunningLogin) throws -> Value) async throws
        -> Value
    {
        let (outcome, running) = (Future<Value>(), RunningLogin())
        let thread = try JoinableThread { outcome.resolve(Result { try body(running) }) }
        // After a cancellation the thread ends later.
        defer { if outcome.isResolved { thread.join() } }
        return try await withTaskCancellationHandler {
            try await outcome.value()
        } onCancel: {
            running.cancel()
        }
    }

    /// Called on the login's thread, before `login` runs.
    /// - Returns: whether the login may run.
    func begin(_ login: Login) -> Bool {
        self.login = login
        return state.withLock { state in
            state.waker = login.loop.waker
            return !state.isCancelled
        }
    }

    private func cancel() {
        let (waker, prompt) = state.withLock { state in
            state.isCancelled = true
            return (state.waker, state.prompt)
        }
        prompt?.cancel()
        waker?.enqueue { [self] in stop() }
    }

    private func stop() { login?.finish(.failure(CancellationError())) }

    // MARK: The user's response

    private final class Response<Value: Sendable>: Sendable {
        private let result = Mutex<Result<Value, any Error>?>(nil)
        private let isThere = DispatchSemaphore(value: 0)

        func set(_ value: Result<Value, any Error>) {
            result.withLock { $0 = value }
            isThere.signal()
        }

        func wait() throws -> Value {
            isThere.wait()
            return try (result.withLock { $0 } ?? .failure(CancellationError())).get()
        }
    }

    /// Runs `body` as a task, and blocks the login's thread until it ends. A cancellation of the login cancels the task.
    func prompt<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) throws -> Value {
        let response = Response<Value>()
        let task = Task {
            do { response.set(.success(try await body())) } catch { response.set(.failure(error)) }
        }
        let isCancelled = state.withLock { state in
            state.prompt = task
            return state.isCancelled
        }
        if isCancelled { task.cancel() }
        return try response.wait()
    }
}
