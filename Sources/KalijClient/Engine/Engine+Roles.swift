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
            pushArrived()
            try answer(letter)
        case Notice.status.name: try answer(letter)
        default: break
        }
    }

    /// A push has come while this engine runs: looks whether the connections live, and gives a `wake` a new budget.
    public func pushArrived() {
        drivers.values.forEach { $0.networkChanged() }
        wake?.renew()
    }

    private func answer(_ letter: Letter) throws {
        let status = DriverStatus(
            role: options.role, pid: fence.owner.pid, online: drivers.values.count(where: \.isOnline),
            accounts: drivers.count)
        try mailbox.reply(to: letter, status.payload, now: clock.now())
    }

    func beginWake() {
        let run = WakeRun(loop: ground.loop, budget: options.budget ?? WakeRun.budget, elapsed: age)
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
        guard drivers.values.allSatisfy({ $0.isRefused || $0.isSettled }), !hasQueued, !isShowing else { return false }
        let reading = try? database.statement("SELECT count(*) FROM catchup WHERE phase <> 'done'")
            .first { $0.integer(0) }
        return reading == 0
    }
}
