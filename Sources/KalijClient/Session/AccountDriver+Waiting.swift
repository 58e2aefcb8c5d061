import KalijTransport

/// Handlers that are called because of the time.
extension AccountDriver {
    /// Where the account stands on the way to letting requests time out.
    ///
    /// A deadline has passed long before the answer can be read, if the process was not there meanwhile. So when one
    /// passes the server is asked for an acknowledgement: its answer comes behind everything that it sent before.
    enum Expiry {
        case none
        /// An earlier request for an acknowledgement is under way; the next one counts.
        case wanted
        /// Asked at that time: requests that were over their deadline then have no answer on the way.
        case asked(Int64)
    }

    /// Sets the timers to what the database says; at the begin, and whenever something else has changed it.
    func watchWaiting() {
        attempt {
            if let deadline = try steps.nextDeadline() { watch(deadline: deadline) }
            if let time = try steps.nextTimer() { watch(timer: time) }
        }
        guard isWaitingForStorage else { return }
        watch(deadline: afterStorage)
        watch(timer: afterStorage)
    }

    /// When to look again at what was due while the database could not be read or written.
    private var afterStorage: Int64 { context.runner.now + 1000 }

    func watch(deadline: Int64) {
        deadlines.set(deadline, now: context.runner.now, on: context.loop) { [weak self] in self?.deadlinePassed() }
    }

    func watch(timer time: Int64) {
        dueTimers.set(time, now: context.runner.now, on: context.loop) { [weak self] in self?.doWhatIsDue() }
    }

    /// Does everything that is due, a step each.
    func doWhatIsDue() {
        guard !isWaitingForStorage else { return watch(timer: afterStorage) }
        attempt {
            while !isStopped, let effects = try steps.due() ?? steps.replayNext() { commit(effects) }
            guard !isStopped else { return }
            if let time = try steps.nextTimer() { watch(timer: time) }
            try flush()
        }
        if isWaitingForStorage { watch(timer: afterStorage) }
    }

    private func deadlinePassed() {
        guard !isWaitingForStorage else { return watch(deadline: afterStorage) }
        switch stage {
        case .online(.some): askForExpiry()
        case .online(nil): expire(.all, until: context.runner.now)
        case .offline: expire(.unsent, until: context.runner.now)
        case .negotiating, .refused, .stopped: break  // the begin of the session looks again
        }
    }

    private func askForExpiry() {
        guard !writer.isRequested else { return expiry = .wanted }
        attempt {
            // Also when a clock was set, or the timer slept its longest: nothing may be due.
            guard let deadline = try steps.nextDeadline() else { return }
            guard deadline <= context.runner.now else { return watch(deadline: deadline) }
            expiry = .asked(context.runner.now)
            requestAcknowledgement(within: context.timing.acknowledgement)
        }
        if isWaitingForStorage { watch(deadline: afterStorage) }
    }

    /// An acknowledgement came, and was handled.
    func acknowledgementCame() {
        leaveIfResumed()
        switch expiry {
        case .none: break
        case .wanted:
            expiry = .none
            askForExpiry()
        case .asked(let time):
            expiry = .none
            expire(.all, until: time)
        }
    }

    private func expire(_ which: Requests.Expired, until time: Int64) {
        attempt {
            while !isStopped, let effects = try steps.expire(which, until: time) { commit(effects) }
            guard !isStopped else { return }
            // What is left of the others waits for a connection.
            if let deadline = try steps.nextDeadline(after: time) { watch(deadline: deadline) }
            try flush()
        }
        if isWaitingForStorage { watch(deadline: afterStorage) }
    }
}
