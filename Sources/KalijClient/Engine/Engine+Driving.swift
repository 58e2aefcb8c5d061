import KalijCore
import KalijEngine
import KalijFeatures
import KalijAddress
import KalijCoordination
import KalijStore
import KalijTransport

extension Engine {
    /// Drives `directory` for as long as the role requires, on this thread. A new engine starts after each freeze of this
    /// process, and after another process has taken over. In the second case a `main` takes over again, a `wake` hands its push
    /// to the driver, and a `background` has nothing left to do.
    /// - Parameters:
    ///   - onEvent: receives each event, after its commit.
    ///   - begins: called before each engine is created, which may wait for another process.
    ///   - began: receives each engine before its run, to watch sources on its loop.
    ///   - blocked: called if the directory cannot be written, so that no engine can start. Waits for the given time, and returns
    ///     true to retry. `onEvent` is called before, and when the directory is writable again.
    ///   - frozen: called when all locks are released after ``prepareForFreeze()``; returns when this process was thawed: true to
    ///     continue.
    ///   - clock: the source of time.
    ///   - directory: the directory of the accounts.
    ///   - options: the engine's behaviour.
    /// - Returns: why the last engine ended.
    /// - Throws: `FenceError.held` if another process drives and does not yield; `EngineError.refused` if no account
    ///   can log in; `StoreError`, `DirectoryError`, `HandlerError`, or the error of `began`.
    public static func drive(
        _ directory: AccountDirectory, options: Options = Options(), clock: Clock = .system,
        onEvent: @escaping (EngineEvent) -> Void = { _ in }, begins: () -> Void = {},
        blocked: (Blocked) throws -> Bool = { _ in false }, frozen: () throws -> Bool = { false },
        began: (Engine) throws -> Void = { _ in }
    ) throws -> Ending {
        let budget = Budget(options, clock)
        var room = Room(directory, clock, onEvent)
        while true {
            do {
                begins()
                let engine = try Engine(directory, options: budget.options, clock: clock, onEvent: onEvent)
                room.isThere()
                try began(engine)
                let ending = try engine.run()
                guard ending == .frozen, try frozen() else { return ending }
            } catch EngineError.handedOver {
                return .handedOver
            } catch FenceError.stale {
                // This process was frozen without warning, and another process has taken over.
                if options.role == .background { return .handedOver }
            } catch FenceError.held(let owner) where options.role == .background && owner.role != .share {
                return .handedOver
            } catch {
                guard let lack = Room.lack(error), try blocked(room.missing(lack)) else { throw error }
            }
        }
    }

    /// Why no engine can start.
    public struct Blocked: Sendable {
        /// The error of the directory.
        public let reason: String
        /// The seconds until a retry is reasonable.
        public let retryIn: Double
        /// Whether an event was emitted for an account. On a full disk even the list of accounts may be unreadable.
        public let isTold: Bool
    }

    /// Tracks whether the directory is writable.
    private struct Room {
        private let directory: AccountDirectory
        private let clock: Clock
        private let onEvent: (EngineEvent) -> Void
        private var backoff = Backoff(base: 1, limit: Timing().longestStorageRetry)
        /// The accounts for which the error was emitted.
        private var notified: [JID] = []

        init(_ directory: AccountDirectory, _ clock: Clock, _ onEvent: @escaping (EngineEvent) -> Void) {
            (self.directory, self.clock, self.onEvent) = (directory, clock, onEvent)
        }

        /// - Returns: nil for a missing permission, and for a database locked by another process, which are reported at once.
        static func lack(_ error: any Error) -> StoreError? {
            guard let error = error as? StoreError, [.full, .inputOutput, .outOfMemory].contains(error.code) else {
                return nil
            }
            return error
        }

        mutating func missing(_ error: StoreError) -> Blocked {
            let delay = backoff.next(random: .random(in: 0..<1))
            let accounts = try? AccountTable(directory.read()).all().filter { $0.state == .active }.map(\.jid)
            notified = accounts ?? notified
            emit(WaitingForStorage(error, retryIn: delay))
            return Blocked(reason: "\(error)", retryIn: delay, isTold: !notified.isEmpty)
        }

        mutating func isThere() {
            emit(StorageAvailable())
            notified = []
            backoff.reset()
        }

        private func emit(_ content: any EventContent) {
            for account in notified { onEvent(EngineEvent(account: account, at: clock.now(), content: content)) }
        }
    }

    /// The remaining time of all engines together; a push renews the whole budget.
    private final class Budget {
        private var given: Options
        private let clock: Clock
        private var end: Int64 = 0

        init(_ options: Options, _ clock: Clock) {
            given = options
            self.clock = clock
            if options.role == .wake { given.budget = options.budget ?? WakeSession.budget }
            renew()
            let renewed = options.onRenewal
            given.onRenewal = { [weak self] in
                self?.renew()
                renewed()
            }
        }

        private func renew() {
            // fits: the program's own budgets are hours at most
            end = clock.monotonic() + Int64((given.budget ?? 0) * 1_000_000_000)
        }

        var options: Options {
            var options = given
            if given.budget != nil { options.budget = max(0, Double(end - clock.monotonic()) / 1_000_000_000) }
            return options
        }
    }
}
