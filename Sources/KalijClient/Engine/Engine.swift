import KalijAddress
import KalijHandlers
import KalijRoles
import KalijStore
import KalijTransport

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Drives the accounts of a directory: keeps them online, stores what they receive, sends what is queued.
///
/// One engine drives a directory at a time; others may read it and accept messages meanwhile. An engine and everything
/// it calls live on the thread that calls ``run()``. It may be killed at any moment: the next one goes on where it was.
public final class Engine {
    /// How an engine behaves.
    public struct Options {
        /// `main` stays online, `background` ends when everything is sent.
        public var role: Role
        /// Only for `background`: seconds after which it gives up sending, for the next to go on.
        public var budget: Double?
        public var timing: Timing
        /// How many days the first reading of an archive looks back; nil: as stored with the account, at first 14.
        public var historyDays: Int?
        /// The application's handlers. Those of all its processes that drive must be the same; a name that one of the
        /// engine's own has (`catch-up.`, `promise.`, `question.`, ...) is refused.
        public var handlers: [any Handler<Step>.Type] = []
        /// Who is told when one of them cannot be called.
        public var owners: [any HandlerOwner.Type] = []
        /// Only for `background`: what it waits for besides sending; asked whenever something has happened.
        public var mayEnd: () throws -> Bool = { true }

        public init(role: Role = .main, budget: Double? = nil, timing: Timing = Timing()) {
            self.role = role
            self.budget = budget
            self.timing = timing
        }
    }

    /// The engine's loop, for what its process wants to watch on the same thread: signals, standard input.
    public let loop: EventLoop
    let directory: AccountDirectory
    private let options: Options
    private let clock: Clock
    let database: Database
    let fence: Fence
    let isCareful: Bool
    /// Waits for promises from any task of this process.
    public let awaiter: PromiseAwaiter
    private(set) var doorbell: DoorbellWatch
    private var network: NetworkMonitor?
    private(set) var context: DriverContext?
    var drivers: [Int64: AccountDriver] = [:]
    private var accepting: Database?
    private(set) var failure: (any Error)?
    private var isStopping = false
    /// Whether it stops because everything was sent.
    private var isDone = false

    /// Takes the right to drive `directory`.
    /// - Parameter onEvent: told each event, after what it tells is committed.
    /// - Throws: `FenceError.held` if another process drives; `StoreError`; `DirectoryError`; `HandlerError` if two handlers
    ///   have the same name.
    public init(
        _ directory: AccountDirectory, options: Options = Options(), clock: Clock = .system,
        onEvent: @escaping (EngineEvent) -> Void
    ) throws {
        self.directory = directory
        self.options = options
        self.clock = clock
        let known = try KnownHandlers(options.handlers, owners: options.owners)
        loop = try EventLoop()
        let (waker, question) = (loop.waker, PromiseQuestion())
        awaiter = PromiseAwaiter { id in waker.enqueue { question.ask(id) } }
        (database, fence, isCareful) = try Self.takeOver(directory, options.role, clock)
        doorbell = try DoorbellWatch(directory: directory.path, loop: loop)
        let mark = CallMark(path: directory.markPath, fence: fence.owner.number)
        if isCareful { try mark.countCrash(in: database) }
        let runner = StepRunner(
            database: database, fence: fence, barrier: try Barrier(path: directory.databasePath), clock: clock,
            known: known, mark: mark)
        context = DriverContext(
            loop: loop, runner: runner, timing: options.timing, report: onEvent,
            fatal: { [weak self] in self?.fail($0) }, changed: { [weak self] in self?.endIfDone() }, awaiter: awaiter)
        question.answer = { [weak self] in self?.answer($0) }
    }

    deinit { awaiter.close() }

    /// Drives until ``stop()`` is called, or, as `background`, until everything is sent.
    /// - Throws: `FenceError.stale` if another process took over; `EngineError.refused` if no account can log in.
    public func run() throws {
        listen()
        network = try? NetworkMonitor(loop: loop) { [weak self] in self?.drivers.values.forEach { $0.networkChanged() }
        }
        try startDrivers()
        if drivers.isEmpty {
            let isEmpty = try AccountTable(database).all().isEmpty
            throw isEmpty
                ? DirectoryError.noAccount(directory: directory.path)
                : DirectoryError.allLoggedOut(directory: directory.path)
        }
        if let budget = options.budget { _ = loop.schedule(after: budget) { [weak self] in self?.stop() } }
        try logOutLeaving()
        if options.role == .background { endIfDone() }
        loop.run()
        awaiter.close()
        if let failure { throw failure }
    }

    /// Lets everything go in order, within a second; ``run()`` then returns.
    public func stop() {
        guard !isStopping else { return }
        isStopping = true
        // Who rings from now on must not rely on this process.
        doorbell.stopListening()
        // Connections write what they still have, for a bounded time, before the loop ends.
        var open = drivers.count
        if open == 0 { loop.enqueue { [weak self] in self?.ended() } }
        for driver in drivers.values {
            driver.letGo { [weak self] in
                open -= 1
                if open == 0 { self?.ended() }
            }
        }
    }

    /// Accepts a message of the account `sender`, or of the only one, and sends it.
    /// - Returns: the message in the state `queued`: it is on the disk.
    /// - Throws: `AcceptError`, `DirectoryError.whichAccount`, `StoreError`; then nothing was accepted.
    public func accept(_ body: String, to recipient: JID, from sender: JID? = nil) throws -> Message {
        let database = try accepting ?? Database(path: directory.databasePath, durability: .machine)
        accepting = database
        let account = try AccountTable(database).account(sender, in: directory)
        let message = try Outgoing.accept(body, to: recipient, of: account, in: database, now: clock.now())
        loop.enqueue { [weak self] in self?.drivers[account.id]?.queueChanged() }
        return message
    }

    /// Runs `body` as a step of the account `jid`, or of the only one; what it sends leaves afterwards. To be called on the
    /// engine's thread, not from within a handler.
    /// - Returns: what `body` returns, once it is committed.
    /// - Throws: `DirectoryError.whichAccount`, `StoreError`, `FenceError.stale`, or what `body` throws; then nothing has
    ///   happened.
    @discardableResult
    public func perform<Result>(for jid: JID? = nil, _ body: (Step) throws -> Result) throws -> Result {
        let account = try AccountTable(database).account(jid, in: directory)
        guard let context, let driver = drivers[account.id] else { throw EngineError.notDriven(account: account.jid) }
        var result: Swift.Result<Result, any Error>?
        let effects = try context.runner.run("application", for: account) { step in result = .success(try body(step)) }
        driver.commit(effects)
        loop.enqueue { [weak driver] in driver?.queueChanged() }
        guard let result else { throw EngineError.notDriven(account: account.jid) }
        return try result.get()
    }

    /// A task waits for a promise: it may have been settled before.
    private func answer(_ promise: Int64) {
        let bytes = try? database.statement("SELECT result FROM promise WHERE id = ?")
            .first([.integer(promise)]) { $0.optionalBlob(0) }
        switch bytes {
        case nil: if let gone = try? StoredOutcome.rejected(.forgotten).stored { awaiter.settled(promise, gone) }
        case .some(let bytes?): if let outcome = StoredValue(canonical: bytes) { awaiter.settled(promise, outcome) }
        case .some(nil): break
        }
    }

    /// Takes the fence; a `background` that holds it lets go for anyone, within five seconds.
    private static func takeOver(
        _ directory: AccountDirectory, _ role: Role, _ clock: Clock
    ) throws -> (Database, Fence, careful: Bool) {
        let deadline = clock.monotonic() + 5_000_000_000
        while true {
            do {
                return try directory.drive(role: role, now: clock.now())
            } catch FenceError.held(let owner) where owner.role == .share || owner.role == .background && role == .main
            {
                guard clock.monotonic() < deadline else { throw FenceError.held(owner) }
                if let bell = Doorbell.bell(directory: directory.path) {
                    bell.askToLetGo(within: 5)
                } else {
                    usleep(10_000)  // it has the lock and does not listen yet, or any more
                }
            }
        }
    }

    private func listen() {
        doorbell.onRing = { [weak self] in self?.rung() }
        doorbell.onPlease = { [weak self] in if self?.options.role == .background { self?.stop() } }
    }

    private func startDrivers() throws {
        guard let context else { return }
        for var account in try AccountTable(database).all() {
            if let days = options.historyDays {
                account.historyDays = min(max(0, Int64(days)), AccountTable.longestHistory)
            }
            // One that the server refuses is tried again when it has other credentials, not at each ring.
            if let driver = drivers[account.id], !driver.isRefused || driver.account.credentials == account.credentials
            {
                continue
            }
            guard account.state != .out else { continue }
            let driver = AccountDriver(account, context: context, careful: isCareful)
            drivers[account.id] = driver
            guard account.state == .active else { continue }
            driver.connect()
            driver.queueChanged()
        }
    }

    /// Tries the stanzas of the quarantine again that are to be, without going online.
    /// - Parameters:
    ///   - options: with the application's handlers.
    ///   - onEvent: told each event, after what it tells is committed.
    /// - Throws: `FenceError.held` if another process drives: that one does it; `StoreError`.
    public static func replayQuarantine(
        _ directory: AccountDirectory, options: Options = Options(), onEvent: @escaping (EngineEvent) -> Void = { _ in }
    ) throws {
        let engine = try Engine(directory, options: options, onEvent: onEvent)
        for account in try AccountTable(engine.database).all() {
            guard let context = engine.context else { continue }
            let steps = SessionSteps(runner: context.runner, account: account)
            while let effects = try steps.replayNext() { context.emit(effects.events) }
        }
        if !engine.isCareful { try engine.fence.letGo(engine.database) }
    }

    /// Logs out the accounts that were told to leave.
    private func logOutLeaving() throws {
        for account in try AccountTable(database).all() where account.state.isToLeave {
            guard let driver = drivers[account.id] else { continue }
            driver.logOut(removing: account.state == .removing, within: options.timing.logout) { [weak self] _ in
                self?.drivers[account.id] = nil
                self?.endIfDone()
            }
        }
    }

    /// Looks for what somebody else has committed: messages, requests, accounts that came or are to leave. The doorbell
    /// does it too.
    public func lookAround() { rung() }

    private func rung() {
        do {
            try startDrivers()
            try logOutLeaving()
        } catch let error as StoreError where error.isMachineError {
            // The drivers meet the same error and wait; the account is found at the next ring or start.
        } catch { return fail(error) }
        drivers.values.forEach { $0.queueChanged() }
    }

    /// Something has happened that this engine, or somebody in another process, may have waited for.
    private func endIfDone() {
        doorbell.tell()
        guard !isStopping else { return }
        if drivers.isEmpty {
            stop()
        } else if let refused = drivers.values.first(where: \.isRefused), drivers.values.allSatisfy(\.isRefused) {
            fail(EngineError.refused(account: refused.account.jid, reason: refused.refusal))
        } else if options.role == .background, !hasQueued, (try? options.mayEnd()) ?? true {
            isDone = true
            stop()
        }
    }

    /// Whether anything waits to be sent or acknowledged, as far as the database can tell.
    private var hasQueued: Bool { (try? drivers.values.contains { try $0.steps.queued() > 0 }) ?? true }

    private func fail(_ error: any Error) {
        failure = failure ?? error
        if case FenceError.stale = error {
            // Whatever this process still did would be refused: nothing is let go that another one holds.
            isStopping = true
            loop.stop()
        } else {
            stop()
        }
    }

    private func ended() {
        if failure == nil {
            do {
                // Somebody may have rung between the last look into the queue and the end of listening.
                if isDone, hasQueued { return try startAgain() }
                // The next driver has to be careful if this one was, to the end.
                if !drivers.values.contains(where: \.isCareful) { try fence.letGo(database) }
            } catch {
                failure = error
            }
        }
        doorbell.letCallersGo()
        loop.stop()
    }

    private func startAgain() throws {
        (isStopping, isDone) = (false, false)
        doorbell = try DoorbellWatch(directory: directory.path, loop: loop)
        listen()
        drivers = [:]
        try startDrivers()
    }
}

/// Why an engine ended.
public enum EngineError: Error, CustomStringConvertible, Sendable {
    /// No account can log in; `account` is one of them.
    case refused(account: JID, reason: String)
    /// The engine does not drive this account: it is logged out, or the engine is not running.
    case notDriven(account: JID)

    public var description: String {
        switch self {
        case .refused(let account, let reason): "\(account): \(reason)"
        case .notDriven(let account): "\(account) is not driven by this engine"
        }
    }
}
