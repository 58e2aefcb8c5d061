import KalijSteps
import KalijFeatures
import KalijAddress
import KalijHandlers
import KalijRoles

extension Engine {
    /// Takes the right to drive `directory` and begins, on a thread of its own: the way for an application.
    ///
    /// ```swift
    /// let engine = try await Engine.start(role: .main, in: AccountDirectory("/home/juliet/.local/share/kalij"))
    /// for await event in engine.events {
    ///     if let stored = event.content as? MessageStored { print(stored.message.from, stored.message.body ?? "") }
    /// }
    /// ```
    ///
    /// If a process drives that lets go for this role, that takes up to a second, and five if it does not answer.
    /// - Parameters:
    ///   - role: what this process is for: `main` stays online, `wake` ends when it has fetched what is new, `background` when
    ///     everything is sent.
    ///   - options: how it behaves; the role in them does not count.
    ///   - clock: where time comes from.
    ///   - directory: whose accounts.
    /// - Returns: the engine, which runs until it has done what its role is for or is stopped. It is stopped, too, when nobody
    ///   refers to it any more.
    /// - Throws: `FenceError.held` if another process drives that does not let go for this role; `DirectoryError`,
    ///   `StoreError`; `HandlerError` if two handlers have the same name; `CancellationError`.
    public static func start(
        role: Role, in directory: AccountDirectory, options: sending Options = Options(), clock: Clock = .system
    ) async throws -> RunningEngine {
        options.role = role
        let thread = EngineThread()
        try thread.start(directory, options, clock)
        let engine = RunningEngine(directory, role, thread, clock)
        try await thread.began.value()
        return engine
    }
}

/// An engine that drives the accounts of a directory on a thread of its own.
///
/// Everything here may be called from any task. The engine may be killed at any moment, like its process: the next one goes on
/// where it was.
public final class RunningEngine: Sendable {
    /// What this process is for.
    public let role: Role
    /// Where its accounts are; to be read at any time, whoever drives.
    public let directory: AccountDirectory
    private let thread: EngineThread
    private let clock: Clock

    init(_ directory: AccountDirectory, _ role: Role, _ thread: EngineThread, _ clock: Clock) {
        self.directory = directory
        self.role = role
        self.thread = thread
        self.clock = clock
    }

    deinit { thread.stop() }

    /// What happens, from the begin of the engine to its end, freezes included.
    public var events: EngineEvents { EngineEvents(hub: thread.hub) }

    /// What the user is to be notified of. Nothing is owed where the user sees messages anyway: a `main` notifies if its options
    /// say so (``Engine/Options/notifies``).
    public var notifications: Notifications { Notifications(desk: thread.desk) }

    /// Waits until the engine has ended: it was stopped, or has done what its role is for.
    /// - Throws: `EngineError.refused` if no account can log in, `FenceError.held` if another process drives by now that does not
    ///   let go; `StoreError`; `CancellationError` if the task is cancelled, then the engine goes on.
    @discardableResult
    public func waitUntilEnded() async throws -> Engine.Ending { try await thread.ended.value() }

    /// Lets everything go in order, within a second, and waits for it.
    /// - Throws: what the engine has ended with, if that is an error.
    @discardableResult
    public func stop() async throws -> Engine.Ending {
        thread.stop()
        return try await thread.ended.value()
    }

    /// Lets everything go within a second because the system is about to freeze this process, and returns once that is done:
    /// nothing is locked then, and other processes may drive. ``events`` and ``notifications`` wait; ``didThaw()`` goes on.
    /// - Throws: `CancellationError`; it is let go all the same.
    public func prepareForFreeze() async throws { try await thread.freeze() }

    /// To be called when the process goes on after a freeze. If it was prepared, the engine takes over again, where another
    /// process has left it; if not, it finds out whether another one drives by now, and whether the connections live.
    public func didThaw() { thread.thaw() }

    /// A push has come to this process while the engine runs: looks whether the connections live, and gives a `wake` a new
    /// budget.
    public func pushArrived() { thread.submit { $0?.pushArrived() } }

    /// Accepts a message of the account `sender`, or of the only one, and sends it. While the engine is frozen or has ended it
    /// is left for the next one, as ``AccountDirectory/share(_:to:from:id:clock:)`` does.
    /// - Parameters:
    ///   - body: what it says.
    ///   - recipient: who gets it.
    ///   - sender: the account; nil is the only one.
    ///   - id: the id under which it is sent, its origin-id (XEP-0359); nil for one that is made here. What was accepted under it
    ///     before is not sent again: who was killed before this returned calls it again with the same id.
    /// - Returns: the message in the state `queued`: it is on the disk. With an `id` that was accepted before, the message as it
    ///   is.
    /// - Throws: `AcceptError`, `DirectoryError.whichAccount`, `StoreError`; then nothing was accepted.
    @discardableResult
    public func accept(
        _ body: String, to recipient: JID, from sender: JID? = nil, id: String? = nil
    ) async throws -> Message {
        do {
            return try await onThread { try $0.accept(body, to: recipient, from: sender, id: id) }
        } catch EngineError.notRunning {
            return try directory.share(body, to: recipient, from: sender, id: id, clock: clock)
        }
    }

    /// Runs `body` as a step of the account `jid`, or of the only one, on the engine's thread; what it sends leaves afterwards.
    /// - Returns: what `body` returns, once it is committed.
    /// - Throws: `EngineError.notRunning`, `DirectoryError.whichAccount`, `StoreError`, `FenceError.stale`, or what `body`
    ///   throws; then nothing has happened.
    @discardableResult
    public func perform<Result: Sendable>(
        for jid: JID? = nil, _ body: @escaping @Sendable (Step) throws -> Result
    ) async throws -> Result {
        try await onThread { try $0.perform(for: jid, body) }
    }

    /// The value of a promise, once it is resolved.
    /// - Throws: `Rejection`: that of the promise, `.stopped` if the engine ends or is let go first; `EngineError.notRunning`;
    ///   `CancellationError`.
    public func value<Value: Codable & Sendable>(of promise: Promise<Value>) async throws -> Value {
        try await onThread { $0.awaiter }.value(of: promise)
    }

    private func onThread<Result: Sendable>(
        _ body: @escaping @Sendable (Engine) throws -> Result
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            thread.submit { engine in
                guard let engine else { return continuation.resume(throwing: EngineError.notRunning) }
                continuation.resume(with: Swift.Result { try body(engine) })
            }
        }
    }
}
