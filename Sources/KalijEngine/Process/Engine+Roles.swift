import KalijCore
import KalijCoordination
import KalijStore

import Glibc

/// The mailbox requests of other processes, and the `wake` run.
extension Engine {
    /// Seconds since the start of the takeover.
    package var age: Double { Double(clock.monotonic() - created) / 1_000_000_000 }

    package func receiveLetters() {
        do {
            let number = fence.owner.number
            for letter in try mailbox.receive(.driver, as: number, now: steady.now) { try handle(letter) }
        } catch let error as StoreError where error.isDamage(ofMailboxIn: directory.path) {
            mailboxFailed(error)
        } catch {
            // The senders receive no response and take over, or check for themselves.
        }
    }

    /// Another process blocks the writes of this process. Waiting for a stopped process would never end.
    package func endFrozenWriters() {
        for path in [directory.databasePath, Mailbox.databasePath(in: directory.path)] { environment.killWriter(path) }
    }

    /// Whether a process with precedence requests to drive; reads all mailbox requests.
    package var isStopRequested: Bool {
        let letters = try? mailbox.receive(.driver, as: fence.owner.number, now: steady.now)
        return letters?.contains {
            [MailboxRequest.pleaseStop.name, MailboxRequest.pushArrived.name].contains($0.name)
        } ?? false
    }

    package func handle(_ letter: MailboxMessage) throws {
        switch letter.name {
        case MailboxRequest.pleaseStop.name:
            // The response is the end of the connection. A requester that has died in the meantime does not take over.
            if options.role != .main, kill(letter.pid, 0) == 0 || errno != ESRCH { stop() }
        case MailboxRequest.pushArrived.name:
            // A `background` yields to the process that a push has started.
            guard options.role != .background else { return stop() }
            guard !stopping.isStopping else { return }
            pushArrived()
            try answer(letter)
        case MailboxRequest.status.name: try answer(letter)
        case MailboxRequest.connectionInDoubt.name: drivers.values.forEach { $0.networkChanged(isGuess: true) }
        default: break
        }
    }

    /// Handles a push that arrived while this engine runs: checks whether the connections are alive, and renews the budget of a
    /// `wake`.
    public func pushArrived() {
        drivers.values.forEach { $0.networkChanged(isGuess: true) }
        wake?.renew()
    }

    private func answer(_ letter: MailboxMessage) throws {
        let status = DriverStatus(
            role: options.role, pid: fence.owner.pid, online: drivers.values.count { $0.stage.session != nil },
            accounts: drivers.count)
        try mailbox.reply(to: letter, status.payload, now: steady.now)
    }

    package func beginWake() {
        let run = WakeSession(loop: environment.loop, budget: options.budget ?? WakeSession.budget, elapsed: age)
        run.isCaughtUp = { [weak self] in self?.isCaughtUp ?? true }
        run.isPreparing = { [weak self] in self?.isPreparing() ?? false }
        run.pause = { [weak self] isPaused in self?.drivers.values.forEach { $0.pause(isPaused) } }
        run.renewed = options.onRenewal
        run.finish = { [weak self] ending in
            // An engine that was stopped in the meantime does not resume for new work: the other process performs it.
            guard let self, !stopping.isStopping else { return }
            end(ending, isDone: ending == .stopped)
        }
        wake = run
        run.begin()
    }

    /// An event was emitted: a `wake` may have caught up.
    package func wakeSaw(_ event: EngineEvent) {
        wake?.active()
        guard type(of: event.content) == Online.self, let resumed = (event.content as? Online)?.resumed else { return }
        for driver in drivers.values where driver.account.jid == event.account {
            if wake != nil {
                // The `<a/>` follows everything that the server has to send.
                driver.stage.session?.request(within: min(options.timing.acknowledgement, Self.doubt))
            } else if resumed {
                // The previous driver may have sent `<resume/>` just before it ended, and the server may reassign the session to
                // that connection.
                environment.loop.schedule(after: Self.doubt) { [weak driver] in
                    driver?.stage.session?.networkChanged()
                }
            }
        }
    }

    /// Seconds of silence after which the server may have moved the session to another process's connection; the server need not
    /// indicate that (measured: Prosody 0.12).
    private static let doubt = 5.0

    /// This process was frozen and detects another driver. Bytes written before the detection may have moved the session away
    /// from the driver's connection.
    package func reportDoubt() {
        guard drivers.values.contains(where: { $0.line != nil }) else { return }
        _ = try? mailbox.send(.connectionInDoubt, to: .driver, from: options.role, now: steady.now)
    }

    /// Whether everything was received from the servers, and everything was sent.
    private var isCaughtUp: Bool {
        guard drivers.values.allSatisfy({ $0.stage.refusal != nil || $0.isSettled }),
            !(context?.services.isBusy ?? false)
        else {
            return false
        }
        guard !hasQueued else {
            // A process that waits for its commit may have signalled and then died once it had committed.
            drivers.values.forEach { $0.queueChanged() }
            return false
        }
        return (try? isReceiving) == false
    }
}
