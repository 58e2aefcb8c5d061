import KalijCore
import KalijAddress
import KalijHandlers
import KalijCoordination
import KalijStore
import KalijTransport

import Glibc

/// Drives the accounts of a directory: keeps them online, stores received messages, sends queued messages.
///
/// One engine drives a directory at a time; meanwhile other processes may read the directory and accept messages. An engine and
/// everything it calls live on the thread that calls ``run()``. The engine may be killed at any time: the next engine resumes its
/// work.
public final class Engine {
    /// The behaviour of an engine.
    public struct Options {
        /// `main` stays online, `wake` ends after it has fetched new messages, `background` after it has sent all messages.
        public var role: Role
        /// Seconds from the engine's creation, the takeover included. At the end of the budget a `background` stops sending, and
        /// a `wake` stops fetching; the next process resumes the work.
        public var budget: Double?
        /// Only for `wake`: called when a push renews the budget.
        public var onRenewal: () -> Void = {}
        /// The timeouts.
        public var timing: Timing
        /// Whether new messages cause notifications, which are redundant where the user sees the messages. Nil means false for a
        /// `main`, and true for all other roles.
        public var notifies: Bool?
        /// What the application gives to the services of features.
        package var resources = ServiceResources()
        /// How many days back the first sync of an archive starts; nil: the value stored with the account, initially 14.
        public var historyDays: Int?
        /// The features of the application, whose hooks run after the engine's own, in this order. All driving processes of the
        /// application must have the same features: the engine refuses to drive without a feature that has driven before.
        public var features: [any Feature.Type] = []
        /// Whether SIGTERM and SIGINT stop the engine, as ``Engine/stop()`` does, from its creation to the end of its run.
        /// Outside that time, and during a takeover from another process, the signals keep the disposition that the process has
        /// set; an ignored signal remains ignored. For one engine of a process at a time.
        public var stopsOnSignals = false
        /// Only for `background`: returns false while there is work other than sending; called after every change.
        public var mayEnd: () throws -> Bool = { true }

        /// The behaviour of a `main`, or of `role`.
        public init(role: Role = .main, budget: Double? = nil, timing: Timing = Timing()) {
            self.role = role
            self.budget = budget
            self.timing = timing
        }
    }

    /// The engine's loop; the process may watch further sources on the same thread, such as signals or standard input.
    public let loop: EventLoop
    package let environment: Environment
    package let directory: AccountDirectory
    package let options: Options
    package let clock: Clock
    package let steady: SteadyTime
    package let created: Int64
    package let database: Database
    package let fence: Fence
    package let isCareful: Bool
    /// Resolves promises for the tasks of this process that await them.
    public let awaiter: PromiseAwaiter
    package var doorbell: DoorbellListener
    package var mailbox: Mailbox
    package var wake: WakeSession?
    package var sharing = Sharing()
    package var stopping = ShutdownState()
    private var watching: (network: NetworkMonitor?, signals: SignalWatch?) = (nil, nil)
    package private(set) var context: DriverContext?
    package var drivers: [Int64: AccountDriver] = [:]
    /// The connection for what this process accepts.
    package var accepting: Database?

    /// Why ``run()`` returned.
    public enum Ending: Sendable {
        /// The engine was stopped, or its role's work was done.
        case stopped
        /// ``prepareForFreeze()`` was called.
        case frozen
        /// The budget of a `wake` or `background` ended before the work was done, or a notification could not be shown and is
        /// still pending.
        case unfinished
        /// Another process drives, and performs the work of this `wake` or `background`.
        case handedOver
    }

    /// Drives a directory whose fence was already acquired.
    package init(
        _ directory: AccountDirectory, options: Options, clock: Clock, since created: Int64, features: Features,
        loop: EventLoop, environment: Environment, driven: DriverTakeover.Driven,
        onEvent: @escaping (EngineEvent) -> Void
    ) throws {
        self.directory = directory
        self.options = options
        self.clock = clock
        (self.loop, self.environment, self.created) = (loop, environment, created)
        let (waker, question) = (loop.waker, PromiseResolver())
        awaiter = PromiseAwaiter { id in waker.enqueue { question.resolve(id) } }
        (database, fence, isCareful, mailbox) = driven
        // The order matters: the engine listens, announces that it receives requests, and checks for work when the run starts.
        doorbell = try DoorbellListener(directory, of: fence, in: database, loop: environment.loop)
        try mailbox.announce(.driver, number: fence.owner.number)
        let mark = CrashMarker(path: directory.markPath, fence: fence.owner.number)
        if isCareful { try mark.countCrash(in: database) }
        steady = try Self.steadyTime(driven, clock)
        let runner = StepRunner(
            database: database, fence: fence, barrier: Barrier(database), clock: clock, features: features, mark: mark,
            notifies: options.notifies ?? (options.role != .main), isSynced: true, steady: steady)
        runner.isBrief = options.role == .wake
        context = DriverContext(
            loop: environment.loop, runner: runner, timing: options.timing,
            report: { [weak self] event in
                onEvent(event)
                self?.doorbell.teller.record(event)
                self?.wakeSaw(event)
            },
            fatal: { [weak self] in self?.fail($0) }, changed: { [weak self] in self?.endIfDone() }, awaiter: awaiter,
            role: options.role, isCareful: isCareful, resources: environment.resources.merging(options.resources),
            random: environment.random, connect: environment.connect)
        context?.blocked = { [weak self] in self?.endFrozenWriters() }
        // What could not be read or stored is tried again: a new account, a logout.
        context?.storageResumed = { [weak self] in self?.rung() }
        question.answer = { [weak self] in self?.answer($0) }
    }

    deinit { awaiter.close() }

    /// The time base for deadlines; started by the first process after a boot.
    private static func steadyTime(_ driven: DriverTakeover.Driven, _ clock: Clock) throws -> SteadyTime {
        if let known = try SteadyTime(reading: driven.database, clock) { return known }
        return try driven.database.transaction {
            try driven.fence.check(driven.database)
            return try SteadyTime(in: driven.database, clock)
        }
    }

    /// Stops at SIGTERM and SIGINT until the end of the run (``Options/stopsOnSignals``).
    package func watchSignals() throws {
        watching.signals = try SignalWatch(loop, [SIGTERM, SIGINT]) { [weak self] _ in self?.stop() }
    }

    /// Drives until ``stop()`` is called, or until the role's work is done.
    /// - Throws: `FenceError.stale` if another process took over; `EngineError.refused` if no account can log in.
    @discardableResult
    public func run() throws -> Ending {
        defer { watching.signals?.end() }
        if !stopping.isStopping {
            watching.network = try? NetworkMonitor(loop: loop) { [weak self] in
                self?.drivers.values.forEach { $0.networkChanged() }
            }
            try begin()
        }
        environment.loop.run()
        return try over()
    }

    /// The work before the loop runs.
    package func begin() throws {
        listen()
        try startDrivers()
        if drivers.isEmpty {
            let isEmpty = try AccountTable(database).all().isEmpty
            throw isEmpty
                ? DirectoryError.noAccount(directory: directory.path)
                : DirectoryError.allLoggedOut(directory: directory.path)
        }
        try logOutRequested()
        reportDamage()
        importMailbox()
        context?.services.start()
        receiveLetters()
        switch options.role {
        case .wake: beginWake()
        case .background:
            if let budget = options.budget {
                context?.end = environment.loop.now + budget - age
                _ = environment.loop.schedule(after: budget - age) { [weak self] in self?.end(.unfinished) }
            }
            endIfDone()
        case .main, .share: break
        }
    }

    /// Why the loop has ended.
    package func over() throws -> Ending {
        awaiter.close()
        if let failure = stopping.failure { throw failure }
        return stopping.ending == .stopped && context?.services.hasFailed ?? false ? .unfinished : stopping.ending
    }

    /// Stops the engine in an orderly manner, within a second; ``run()`` then returns.
    public func stop() { end(.stopped) }

    /// Releases all locks within a second because the system is about to suspend this process; ``run()`` then returns
    /// ``Ending/frozen``. After the thaw, a new engine takes over from this engine or from another process.
    public func prepareForFreeze() { end(.frozen) }

    /// Call this when the process resumes after a freeze without warning: determines whether another process drives, and whether
    /// the connections are alive.
    public func didThaw() {
        do {
            try fence.check(database)
            drivers.values.forEach { $0.networkChanged() }
            rung()
        } catch { fail(error) }
    }

    /// Signals the service of `feature` in this process (``Step/signal(_:)``).
    package func signal(_ feature: any ServiceProvider.Type) { context?.services.signal(feature) }

    /// The intents that the engine supports.
    public var intents: [any Intent.Type] { context?.runner.features.intents ?? [] }

    /// Runs `body` as a step of the account `jid`, or of the only account. Stanzas sent by `body` are transmitted after the
    /// commit. Call this on the engine's thread, not from within a handler.
    /// - Returns: the result of `body`, after the commit.
    /// - Throws: `DirectoryError.whichAccount`, `StoreError`, `FenceError.stale`, `StepError.withinStep`, or the error of `body`.
    ///   In each case nothing was changed.
    @discardableResult
    public func perform<Result>(for jid: JID? = nil, _ body: (Step) throws -> Result) throws -> Result {
        try StepRunner.checkOutside(directory.databasePath)
        let account = try AccountTable(database).account(jid, in: directory)
        guard let context, let driver = drivers[account.id] else { throw EngineError.notDriven(account: account.jid) }
        var result: Swift.Result<Result, any Error>?
        let effects = try context.runner.run("application", for: account) { step in result = .success(try body(step)) }
        driver.release(effects)
        environment.loop.enqueue { [weak driver] in driver?.queueChanged() }
        guard let result else { throw EngineError.notDriven(account: account.jid) }
        return try result.get()
    }

    /// A task awaits a promise, which may already be settled.
    private func answer(_ promise: Int64) {
        let outcome: StoredValue?
        do {
            outcome = try Promises.outcome(of: promise, in: database)
        } catch {
            outcome = try? StoredOutcome.rejected(.forgotten).stored
        }
        if let outcome { awaiter.settled(promise, outcome) }
    }

    package func startDrivers() throws {
        guard let context else { return }
        for var account in try AccountTable(database).all() {
            if let days = options.historyDays {
                account.historyDays = min(max(0, Int64(days)), AccountTable.longestHistory)
            }
            // An account refused by the server is retried with new credentials, not at each signal.
            if let driver = drivers[account.id],
                driver.stage.refusal == nil || driver.account.credentials == account.credentials
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

    /// Logs out the accounts for which a logout was requested.
    private func logOutRequested() throws {
        for account in try AccountTable(database).all() where account.state.isToLogOut {
            guard let driver = drivers[account.id] else { continue }
            driver.logOut(removing: account.state == .removing, within: options.timing.logout) { [weak self] _ in
                self?.drivers[account.id] = nil
                self?.endIfDone()
            }
        }
    }

    /// Checks for commits of other processes: messages, requests, new accounts, requested logouts. A signal on the doorbell has
    /// the same effect.
    public func lookAround() { rung() }

    /// Handles signals on the doorbell.
    package func listen() {
        doorbell.onRing = { [weak self] in self?.rung() }
        doorbell.onConnectNow = { [weak self] in self?.drivers.values.forEach { $0.connect() } }
    }

    package func rung() {
        do {
            try startDrivers()
            try logOutRequested()
        } catch let error as StoreError where error.isMachineError {
            // The drivers encounter the same error and wait; the account is found at the next signal or start.
        } catch { return fail(error) }
        importMailbox()
        drivers.values.forEach { $0.queueChanged() }
        receiveLetters()
    }

    /// Something changed that this engine, or another process, may have waited for.
    private func endIfDone() {
        doorbell.notify()
        guard !stopping.isStopping else { return }
        wake?.active()
        if drivers.isEmpty {
            stop()
        } else if let refused = drivers.values.first, let reason = refused.stage.refusal,
            // A logout that a full disk prevents is still to be done.
            drivers.values.allSatisfy({ $0.stage.refusal != nil && !$0.storage.isWaiting })
        {
            fail(EngineError.refused(account: refused.account.jid, reason: reason))
        } else if options.role == .background, !hasQueued, (try? options.mayEnd()) ?? true,
            // Between the server's last response and the end of the session nothing is queued.
            !drivers.values.contains(where: { $0.logout != nil })
        {
            end(.stopped, isDone: true)
        }
    }
}
