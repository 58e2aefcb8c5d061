import KalijCore

/// The scheduled work of an account: due handlers, and the services of features.
package final class ScheduledWork {
    private weak var driver: AccountDriver?
    private let context: DriverContext
    private let steps: SessionSteps
    private let deadlines = DeadlineTimer()
    private let timers = DeadlineTimer()
    private var expiry = RequestExpiry()
    /// The services of the account.
    package let services: Services

    package init(_ driver: AccountDriver) {
        self.driver = driver
        (context, steps) = (driver.context, driver.steps)
        let host = DriverServiceHost(driver)
        services = Services(of: driver.context.runner.features) { $0.accountService(for: host) }
    }

    /// Whether writes to the database are blocked.
    private var isBlocked: Bool { driver?.storage.isWaiting ?? true }
    private var isStopped: Bool { driver?.stage.isStopped ?? true }

    // MARK: Planning

    /// Sets the timers from the database: at the start, and whenever another component or process has changed it.
    package func watch() {
        driver?.attempt {
            if let deadline = try steps.nextDeadline() { watch(deadline: deadline) }
            if let time = try steps.nextTimer() { watch(timer: time) }
        }
        guard isBlocked else { return }
        watch(deadline: afterStorage)
        watch(timer: afterStorage)
    }

    /// A step was committed.
    package func plan(_ effects: Step.Effects) {
        if let deadline = effects.deadline { watch(deadline: deadline) }
        if let time = effects.timer { watch(timer: time) }
        services.stepDidCommit(effects)
    }

    /// When to check again for due work after the database could not be read or written.
    private var afterStorage: Int64 { context.runner.steadyNow + 1000 }

    private func watch(deadline: Int64) {
        deadlines.set(deadline, now: context.runner.steadyNow, on: context.loop) { [weak self] in self?.deadlinePassed()
        }
    }

    private func watch(timer time: Int64) {
        timers.set(time, now: context.runner.steadyNow, on: context.loop) { [weak self] in self?.timePassed() }
    }

    /// The connection has ended: a mark made on it is void.
    package func connectionEnded() { expiry.connectionEnded() }

    package func cancel() {
        deadlines.cancel()
        timers.cancel()
        services.stop()
    }

    // MARK: Doing

    private func timePassed() {
        doAll()
        if !isBlocked { driver?.attempt { try driver?.stage.session?.flush() } }
    }

    /// Performs all due work, with one step for each item. The entries queued by the steps still have to be written.
    package func doAll() {
        guard !isBlocked else { return watch(timer: afterStorage) }
        driver?.attempt {
            while !isStopped, let effects = try steps.due() ?? Replay.next(of: steps.account, context.runner) {
                driver?.release(effects)
            }
            guard !isStopped else { return }
            if let time = try steps.nextTimer() { watch(timer: time) }
        }
        if isBlocked { watch(timer: afterStorage) }
    }

    private func deadlinePassed() {
        guard !isBlocked else { return watch(deadline: afterStorage) }
        switch expiry.deadlinePassed(connection, now: context.runner.steadyNow) {
        case .mark: mark()
        case .expire(let which, let time): expire(which, until: time)
        case nil: break
        }
    }

    private var connection: RequestExpiry.Connection {
        switch driver?.stage {
        case .online(let session): session.management == nil ? .unmanaged : .managed
        case .offline: .none
        case .negotiating, .refused, .stopped, nil: .negotiating
        }
    }

    private func mark() {
        driver?.attempt {
            // A timer with the longest delay may fire before anything is due.
            guard let deadline = try steps.nextDeadline() else { return }
            let now = context.runner.steadyNow
            guard deadline <= now else { return watch(deadline: deadline) }
            let (effects, marker) = try steps.mark()
            expiry.marked(by: marker, at: now)
            driver?.release(effects)
            try driver?.stage.session?.flush()
        }
        if isBlocked { watch(deadline: afterStorage) }
    }

    /// An acknowledgement was received and handled.
    package func acknowledged() {
        driver?.attempt {
            guard case .expire(let which, let time) = try expiry.acknowledged(steps.isAcknowledged) else { return }
            expire(which, until: time)
        }
    }

    private func expire(_ which: Requests.Expired, until time: Int64) {
        driver?.attempt {
            while !isStopped, let effects = try steps.expire(which, until: time) { driver?.release(effects) }
            guard !isStopped else { return }
            // Only later deadlines: requests that remain from before `time` wait for a connection.
            if let deadline = try steps.nextDeadline(after: time) { watch(deadline: deadline) }
            try driver?.stage.session?.flush()
        }
        if isBlocked { watch(deadline: afterStorage) }
    }
}
