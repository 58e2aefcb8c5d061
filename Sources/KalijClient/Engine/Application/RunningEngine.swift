import KalijCore
import KalijEngine
import KalijFeatures
import KalijAddress
import KalijHandlers
import KalijCoordination

extension Engine {
    /// Acquires the right to drive `directory` and starts an engine on a thread of its own: the entry point for an application.
    ///
    /// ```swift
    /// let engine = try await Engine.start(role: .main, in: AccountDirectory("/home/juliet/.local/share/kalij"))
    /// for await event in engine.events {
    ///     if let stored = event.content as? MessageStored { print(stored.message.from, stored.message.body ?? "") }
    /// }
    /// ```
    ///
    /// If another process drives and yields to this role, the takeover takes up to a second, or five seconds if that process does
    /// not respond.
    /// - Parameters:
    ///   - role: the purpose of this process: `main` stays online, `wake` ends after it has fetched new messages, `background`
    ///     after it has sent all messages.
    ///   - options: the engine's behaviour; their role is ignored.
    ///   - clock: the source of time.
    ///   - directory: the directory of the accounts.
    /// - Returns: the engine, which runs until the work of its role is done or it is stopped. The engine is also stopped when the
    ///   last reference to it is released.
    /// - Throws: `FenceError.held` if another process drives and does not yield to this role; `DirectoryError`,
    ///   `StoreError`; `HandlerError` if two handlers have the same name; `CancellationError`.
    public static func start(
        role: Role, in directory: AccountDirectory, options: sending Options = Options(), clock: Clock = .system
    ) async throws -> RunningEngine {
        options.role = role
        let thread = EngineThread()
        try thread.start(directory, options, clock)
        let engine = RunningEngine(directory, role, thread, clock)
        try await thread.waitUntilBegun()
        return engine
    }
}

/// An engine that drives the accounts of a directory on a thread of its own.
///
/// All functions may be called from any task. The engine may be killed at any time, like its process: the next engine resumes its
/// work.
public final class RunningEngine: Sendable {
    /// The purpose of this process.
    public let role: Role
    /// The directory of the accounts; readable at any time, whichever process drives.
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

    /// The events from the beginning of the engine to its end, freezes included.
    public var events: EngineEvents { EngineEvents(hub: thread.hub) }

    /// The user's notifications. A `main` produces none, because the user sees its messages, unless its options request them
    /// (``Engine/Options/notifies``).
    public var notifications: Notifications { Notifications(presenter: thread.presenter) }

    /// Waits for the end of the engine: the engine was stopped, or its role's work is done. After the return the engine's thread
    /// no longer exists, so that the process may exit.
    /// - Throws: `EngineError.refused` if no account can log in; `FenceError.held` if another process has taken over and does not
    ///   yield; `StoreError`; `CancellationError` if the task is cancelled, which does not stop the engine.
    @discardableResult
    public func waitUntilEnded() async throws -> Engine.Ending { try await thread.waitUntilEnded() }

    /// Stops the engine in an orderly manner, within a second, and waits for its end. After the return the engine's thread no
    /// longer exists, so that the process may exit.
    /// - Throws: the error that ended the engine, if any.
    @discardableResult
    public func stop() async throws -> Engine.Ending {
        thread.stop()
        return try await thread.waitUntilEnded()
    }

    /// Releases all locks within a second because the system is about to suspend this process. After the return other processes
    /// may drive. ``events`` and ``notifications`` are suspended until ``didThaw()``.
    /// - Throws: `CancellationError`; the locks are released all the same.
    public func prepareForFreeze() async throws { try await thread.freeze() }

    /// Call this when the process resumes after a freeze. After a prepared freeze, the engine takes over again. After a freeze
    /// without warning, the engine determines whether another process drives, and whether the connections are alive.
    public func didThaw() { thread.thaw() }

    /// Handles a push that arrived while the engine runs: checks whether the connections are alive, and renews the budget of a
    /// `wake`.
    public func pushArrived() { thread.submit { $0?.pushArrived() } }

    /// Accepts a message of the account `sender`, or of the only account, and sends it. While the engine is frozen or has ended,
    /// the message is enqueued for the next engine, as with
    /// ``AccountDirectory/share(_:to:from:id:answering:privacy:endsDraft:clock:)``.
    /// - Parameters:
    ///   - body: the text.
    ///   - recipient: the recipient.
    ///   - sender: the account; nil selects the only account.
    ///   - id: the id of the message, its origin-id (XEP-0359); nil generates one. A message already accepted under this id is
    ///     not sent again: a process that was killed during the call repeats the call with the same id.
    ///   - answered: the message that the text answers (XEP-0461); nil if there is none.
    ///   - privacy: whether to encrypt the text.
    ///   - endsDraft: whether the text was the conversation's draft. The draft is removed when the message is accepted.
    /// - Returns: the message in the state `queued`, on the disk. If a message was already accepted under this `id`, returns that
    ///   message unchanged.
    /// - Throws: `AcceptError`, `DirectoryError.whichAccount`, `StoreError`. In each case nothing was accepted.
    @discardableResult
    public func accept(
        _ body: String, to recipient: JID, from sender: JID? = nil, id: String? = nil,
        answering answered: MessageReference? = nil, privacy: EncryptionPreference = .asConversation,
        endsDraft: Bool = false
    ) async throws -> Message {
        do {
            return try await onThread {
                try $0.accept(
                    body, to: recipient, from: sender, id: id, answering: answered, privacy: privacy,
                    endsDraft: endsDraft)
            }
        } catch EngineError.notRunning {
            return try directory.share(
                body, to: recipient, from: sender, id: id, answering: answered, privacy: privacy, endsDraft: endsDraft,
                clock: clock)
        }
    }

    /// Accepts a change that the user requested, and performs it once. While the engine is frozen or has ended, the change is
    /// enqueued for the next engine, as with ``AccountDirectory/share(_:for:id:clock:)``.
    /// - Parameters:
    ///   - intent: the change to perform.
    ///   - jid: the account; nil selects the only account.
    ///   - id: the id of the intent; nil generates one. An intent already accepted under this id is not performed again.
    /// - Returns: the id of the intent, which is on the disk; `IntentEnded` reports the outcome.
    /// - Throws: the error of `intent`'s check; `AcceptError.badID`, `DirectoryError.whichAccount`, `StoreError`. In each case
    ///   nothing was accepted.
    @discardableResult
    public func accept(_ intent: some Intent, for jid: JID? = nil, id: String? = nil) async throws -> String {
        do {
            return try await onThread { try $0.accept(intent, for: jid, id: id) }
        } catch EngineError.notRunning {
            return try directory.share(intent, for: jid, id: id, clock: clock)
        }
    }

    /// Runs `body` as a step of the account `jid`, or of the only account, on the engine's thread. Stanzas sent by `body` are
    /// transmitted after the commit.
    /// - Returns: the result of `body`, after the commit.
    /// - Throws: `EngineError.notRunning`, `DirectoryError.whichAccount`, `StoreError`, `FenceError.stale`, or the error of
    ///   `body`. In each case nothing was changed.
    @discardableResult
    public func perform<Result: Sendable>(
        for jid: JID? = nil, _ body: @escaping @Sendable (Step) throws -> Result
    ) async throws -> Result {
        try await onThread { try $0.perform(for: jid, body) }
    }

    /// The value of a promise, once it is resolved.
    /// - Throws: the promise's `Rejection`; `Rejection.stopped` if the engine ends or is frozen first;
    ///   `EngineError.notRunning`; `CancellationError`.
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
