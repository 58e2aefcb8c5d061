import KalijCore
import KalijTransport

extension Step {
    /// Notes that the account's archive is to be queried again after a while.
    func retryArchive() { signal(HistoryFeature.self) }
}

/// Determines when the archive is read in a session: once more after a bind, again after a failure, and at the end of each part of
/// the tail.
final class HistoryService: FeatureService {
    private let host: any AccountServiceHost
    private var trigger = ArchiveSyncTrigger()
    /// The timer of a further reading.
    private var retry: Timer?
    /// The timer of the tail over a slow link.
    private var quiet: Timer?

    init(_ host: any AccountServiceHost) { self.host = host }

    func sessionDidBegin(isResumed: Bool) {
        stop()
        trigger = ArchiveSyncTrigger()
        guard isResumed else {
            // While the server processes the initial presence, a message may be archived after the archive was read, and be
            // delivered to no client.
            return readLater()
        }
        // Over a slow link the sync of the tail was postponed (`ArchiveSync.resume`).
        let isSlow = host.isLinkSlow
        perform(trigger.grew(by: 0, waits: isSlow, isCaughtUp: false, isSlow: isSlow))
    }

    func stepDidCommit(_ effects: Step.Effects, isSignalled: Bool) {
        if isSignalled { readLater() }
        let isCaughtUp = effects.events.contains { type(of: $0.content) == CaughtUp.self }
        guard isCaughtUp || effects.tail > 0 || trigger.isWaiting, host.isOnline else { return }
        perform(trigger.grew(by: effects.tail, isCaughtUp: isCaughtUp, isSlow: host.isLinkSlow))
    }

    func stop() {
        retry?.cancel()
        quiet?.cancel()
    }

    private func perform(_ action: ArchiveSyncTrigger.Action) {
        switch action {
        case .none: break
        case .read:
            quiet?.cancel()
            host.loop.enqueue { [weak self] in self?.read() }
        case .wait(let seconds):
            quiet?.cancel()
            quiet = host.loop.schedule(after: seconds) { [weak self] in
                if let self, trigger.quietEnded() { read() }
            }
        }
    }

    private func readLater() {
        retry?.cancel()
        retry = host.loop.schedule(after: host.timing.archiveRetry) { [weak self] in self?.read() }
    }

    /// Resumes the sync of the archive at its last position.
    private func read() {
        guard host.isOnline else { return }
        host.attempt {
            host.release(try Self.resync(host.account, host.runner))
            host.flush()
        }
        // Messages may wait for the archive.
        if host.isBlocked { readLater() }
    }

    /// The step of a further reading, if the server has an archive.
    static func resync(_ account: Account, _ runner: StepRunner) throws -> Step.Effects {
        try runner.run("archive", for: account) { step in
            guard try SessionRow.load(account.id, from: step.database).archive else { return }
            try ArchiveSync(step: step).resync()
        }
    }
}
