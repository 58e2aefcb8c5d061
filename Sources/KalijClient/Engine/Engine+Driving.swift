import KalijSteps
import KalijFeatures
import KalijAddress
import KalijRoles
import KalijStore
import KalijTransport

extension Engine {
    /// Drives `directory` for as long as the role wants, on this thread: with one engine after the other, if this process is
    /// frozen, or another one has gone on over its head meanwhile. A `main` takes over again then; a `wake` tells the other one
    /// of its push; a `background` has nothing left to do.
    /// - Parameters:
    ///   - onEvent: told each event, after what it tells is committed.
    ///   - begins: called before each engine is made, which may wait for another process.
    ///   - began: gets each engine before it runs, for what is to be watched on its loop.
    ///   - blocked: called where the directory cannot be written and so nothing can begin; waits for as long as it is told, and
    ///     returns true if it is to be tried again. `onEvent` is told before, and when there is room.
    ///   - frozen: called once everything is let go after ``prepareForFreeze()``; returns when this process was thawed, true if
    ///     it is to go on.
    ///   - clock: where time comes from.
    ///   - directory: whose accounts.
    ///   - options: how it behaves.
    /// - Returns: why it has ended, for good.
    /// - Throws: `FenceError.held` if another process drives that this one does not take over from; `EngineError.refused` if no
    ///   account can log in; `StoreError`, `DirectoryError`, `HandlerError`, or what `began` throws.
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
                // It was frozen without warning, and another one drives.
                if options.role == .background { return .handedOver }
            } catch FenceError.held(let owner) where options.role == .background && owner.role != .share {
                return .handedOver
            } catch let error where Room.isMissing(error) {
                guard try blocked(room.missing(error)) else { throw error }
            }
        }
    }

    /// Why nothing can begin.
    public struct Blocked: Sendable {
        /// What is wrong with the directory.
        public let reason: String
        /// After how many seconds it is worth trying again.
        public let retryIn: Double
        /// Whether there was an account to tell an event of; on a disk that is full not even they can be read, perhaps.
        public let isTold: Bool
    }

    /// Whether the directory can be written.
    private struct Room {
        private let directory: AccountDirectory
        private let clock: Clock
        private let onEvent: (EngineEvent) -> Void
        private var backoff = Backoff(base: 1, limit: Timing().longestStorageRetry)
        /// Who was told that it cannot.
        private var told: [JID] = []

        init(_ directory: AccountDirectory, _ clock: Clock, _ onEvent: @escaping (EngineEvent) -> Void) {
            (self.directory, self.clock, self.onEvent) = (directory, clock, onEvent)
        }

        static func isMissing(_ error: any Error) -> Bool {
            // A directory that may not be written, and one that another process keeps, are said at once.
            guard let error = error as? StoreError else { return false }
            return [.full, .inputOutput, .outOfMemory].contains(error.code)
        }

        mutating func missing(_ error: any Error) -> Blocked {
            let delay = backoff.next(random: .random(in: 0..<1))
            let accounts = try? AccountTable(directory.read()).all().filter { $0.state == .active }.map(\.jid)
            told = accounts ?? told
            tell(WaitingForStorage(reason: "\(error)", retryIn: delay))
            return Blocked(reason: "\(error)", retryIn: delay, isTold: !told.isEmpty)
        }

        mutating func isThere() {
            tell(StorageAvailable())
            told = []
            backoff.reset()
        }

        private func tell(_ content: any EventContent) {
            for account in told { onEvent(EngineEvent(account: account, at: clock.now(), content: content)) }
        }
    }

    /// What is left of the time for all engines together; a push gives all of it again.
    private final class Budget {
        private var given: Options
        private let clock: Clock
        private var end: Int64 = 0

        init(_ options: Options, _ clock: Clock) {
            given = options
            self.clock = clock
            if options.role == .wake { given.budget = options.budget ?? WakeRun.budget }
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
