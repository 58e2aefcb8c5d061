import KalijRoles
import KalijStore

/// What processes say to each other, and the `wake` run.
extension Engine {
    func receiveLetters() {
        do {
            let number = fence.owner.number
            for letter in try mailbox.receive(.driver, as: number, now: clock.now()) { try handle(letter) }
        } catch {
            // Their senders get no answer and take over, or look themselves.
        }
    }

    /// Whether somebody wants to drive who goes first; all letters are taken.
    var isAskedToStop: Bool {
        let letters = try? mailbox.receive(.driver, as: fence.owner.number, now: clock.now())
        return letters?.contains { [Notice.pleaseStop.name, Notice.pushArrived.name].contains($0.name) } ?? false
    }

    func handle(_ letter: Letter) throws {
        switch letter.name {
        case Notice.pleaseStop.name:
            // The answer is the end of the connection.
            if options.role != .main { stop() }
        case Notice.pushArrived.name:
            // One that only sends yields to who was woken.
            guard options.role != .background else { return stop() }
            guard !isStopping else { return }
            drivers.values.forEach { $0.networkChanged() }
            wake?.renew()
            try answer(letter)
        case Notice.status.name: try answer(letter)
        default: break
        }
    }

    private func answer(_ letter: Letter) throws {
        let status = DriverStatus(
            role: options.role, pid: fence.owner.pid, online: drivers.values.count(where: \.isOnline),
            accounts: drivers.count)
        try mailbox.reply(to: letter, status.payload, now: clock.now())
    }

    func beginWake() {
        let run = WakeRun(loop: loop, budget: options.budget ?? WakeRun.budget, elapsed: age)
        run.isCaughtUp = { [weak self] in self?.isCaughtUp ?? true }
        run.pause = { [weak self] isPaused in self?.drivers.values.forEach { $0.isReading = !isPaused } }
        run.renewed = options.onRenewal
        run.finish = { [weak self] ending in
            // Told to stop meanwhile, it is not to go on for what has come since: who told it does.
            guard let self, !isStopping else { return }
            isDone = ending == .stopped
            end(ending)
        }
        wake = run
        run.begin()
    }

    /// Shows what is owed to the user, in the loop's next turn.
    func planNotifications() {
        guard options.onNotification != nil, !areNotificationsPlanned else { return }
        areNotificationsPlanned = true
        loop.enqueue { [weak self] in
            self?.areNotificationsPlanned = false
            self?.showNotifications()
        }
    }

    private func showNotifications() {
        guard let show = options.onNotification else { return }
        let outbox = NotificationOutbox(database: database)
        do {
            let entries = try outbox.pending(limit: 100)
            guard !entries.isEmpty else { return }
            // What another process was to show, because it drives by now, it shows.
            try fence.check(database)
            entries.forEach { show($0.notification) }
            try database.transaction {
                try fence.check(database)
                try outbox.done(entries)
            }
            planNotifications()
        } catch {
            // They are shown again by the next process, or with the next one.
        }
    }

    func wakeSaw(_ event: EngineEvent) {
        guard let wake else { return }
        wake.active()
        guard case .online = event.kind else { return }
        // The answer comes behind everything that the server has to say.
        for driver in drivers.values where driver.account.jid == event.account {
            driver.requestAcknowledgement(within: options.timing.acknowledgement)
        }
    }

    /// Whether everything that the servers had is here, and everything that was to be sent is there.
    private var isCaughtUp: Bool {
        guard drivers.values.allSatisfy({ $0.isRefused || $0.isSettled }) else { return false }
        guard !hasQueued else {
            // Who committed it may have died while it waited to, and rung the driver before.
            drivers.values.forEach { $0.queueChanged() }
            return false
        }
        let reading = try? database.statement("SELECT count(*) FROM catchup WHERE phase <> 'done'")
            .first { $0.integer(0) }
        return reading == 0
    }
}
