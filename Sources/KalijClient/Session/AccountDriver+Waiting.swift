import KalijSteps
import KalijFeatures
import KalijTransport

/// Handlers that are called because of the time.
extension AccountDriver {
    /// Where the account stands on the way to letting requests time out.
    ///
    /// A deadline has passed long before the answer can be read, if the process was not there meanwhile. So when one
    /// passes the server is sent a stanza: an acknowledgement with that one in it comes behind everything that it sent before,
    /// whether it was asked for or not.
    enum Expiry {
        case none
        /// The queue's entry `marker` was added at that time. Once it is acknowledged, requests that were over their deadline
        /// then have no answer on the way.
        case marked(at: Int64, marker: Int64)
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
    private var afterStorage: Int64 { context.runner.steadyNow + 1000 }

    func watch(deadline: Int64) {
        deadlines.set(deadline, now: context.runner.steadyNow, on: context.loop) { [weak self] in self?.deadlinePassed()
        }
    }

    func watch(timer time: Int64) {
        dueTimers.set(time, now: context.runner.steadyNow, on: context.loop) { [weak self] in self?.doWhatIsDue() }
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
        case .online(nil): expire(.all, until: context.runner.steadyNow)
        case .offline: expire(.unsent, until: context.runner.steadyNow)
        case .negotiating, .refused, .stopped: break  // the begin of the session looks again
        }
    }

    private func askForExpiry() {
        // What comes due meanwhile is looked for afterwards.
        guard case .none = expiry else { return }
        attempt {
            // Also when the timer slept its longest: nothing may be due.
            guard let deadline = try steps.nextDeadline() else { return }
            let now = context.runner.steadyNow
            guard deadline <= now else { return watch(deadline: deadline) }
            let (effects, marker) = try steps.mark()
            expiry = .marked(at: now, marker: marker)
            commit(effects)
            try flush()
        }
        if isWaitingForStorage { watch(deadline: afterStorage) }
    }

    /// Something was acknowledged, and that was handled.
    func expireIfMarked() {
        guard case .marked(let time, let marker) = expiry else { return }
        attempt {
            guard try steps.isAcknowledged(marker) else { return }
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
