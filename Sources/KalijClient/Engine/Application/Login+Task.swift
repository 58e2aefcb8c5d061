import KalijAddress
import KalijCoordination
import KalijCore
import KalijEngine
import KalijStream
import KalijTransport
import Synchronization

extension AccountDirectory {
    /// Logs in as ``logIn(_:password:resource:server:within:clock:)`` and stores the account, without blocking the caller's thread.
    /// - Throws: as the other function; `CancellationError` as soon as the task is cancelled, in which case nothing is stored.
    public func addAccount(
        _ jid: JID, password: String, resource: String, server: ServerSettings = ServerSettings(),
        within seconds: Double = 60, clock: Clock = .system
    ) async throws {
        let login = try await Login.perform(jid, password: password, server: server, within: seconds)
        try Task.checkCancellation()
        let database = try open(.machine, role: .share, now: clock.now(), clock: clock)
        try ringing {
            try AccountTable(database).store(
                jid: jid, server: server, login: login, resource: resource, clock: clock)
        }
    }
}

extension Login {
    /// Logs in as ``attempt(_:password:server:within:)``, on a thread of its own.
    /// - Returns: the values to store.
    /// - Throws: `LoginError`, `SystemError`; `EngineError.noThread`; `CancellationError` as soon as the task is cancelled, which
    ///   also ends the connection.
    public static func perform(
        _ jid: JID, password: String, server: ServerSettings, within seconds: Double = 60
    ) async throws -> SuccessfulLogin {
        let (outcome, running) = (Future<SuccessfulLogin>(), Running())
        let thread = try JoinableThread {
            outcome.resolve(
                Result {
                    let login = try Login(jid, password: password)
                    guard running.begin(login), let found = try login.run(server, of: jid, within: seconds) else {
                        throw CancellationError()
                    }
                    return found
                })
        }
        // After a cancellation the thread ends later.
        defer { if outcome.isResolved { thread.join() } }
        return try await withTaskCancellationHandler {
            try await outcome.value()
        } onCancel: {
            running.cancel()
        }
    }

    /// The login that runs on another thread.
    private final class Running: Sendable {
        private struct State {
            var waker: Waker?
            var isCancelled = false
        }

        private let state = Mutex(State())
        /// Accessed on the login's thread only: the waker forwards the call there.
        private nonisolated(unsafe) weak var login: Login?

        /// Called on the login's thread, before the login runs.
        /// - Returns: whether the login may run.
        func begin(_ login: Login) -> Bool {
            self.login = login
            return state.withLock { state in
                state.waker = login.loop.waker
                return !state.isCancelled
            }
        }

        func cancel() {
            let waker = state.withLock { state in
                state.isCancelled = true
                return state.waker
            }
            waker?.enqueue { [self] in stop() }
        }

        private func stop() { login?.finish(.failure(CancellationError())) }
    }
}
