import KalijCore
import KalijTransport

/// The duration of a `wake` run: until the process has caught up and no push has arrived for a while, or until the budget ends.
///
/// New messages do not extend the run: the server sends pushes for them afterwards. Shortly before the end of the budget, stanzas
/// are no longer handled; a push at that time renews the budget, and handling resumes.
package final class WakeSession {
    /// The default budget in seconds: the system grants 30.
    package static let budget = 25.0
    /// The seconds to wait for a push.
    package static let silence = 1.5
    /// The seconds reserved for the shutdown.
    private static let shutdownReserve = 1.0
    /// The timeout for preparations, in seconds: a room's server may never respond.
    private static let preparation = 8.0
    /// Seconds between two checks whether the process has caught up, if nothing happens.
    private static let pause = 0.25

    package var isCaughtUp: () -> Bool = { true }
    /// Whether something is pending that the server requires to push later.
    package var isPreparing: () -> Bool = { false }
    /// Pauses the handling of stanzas, or resumes it.
    package var pause: (Bool) -> Void = { _ in }
    package var renewed: () -> Void = {}
    package var finish: (Engine.Ending) -> Void = { _ in }
    private let loop: any Scheduler
    private let budget: Double
    /// The end of the budget, on the loop's clock.
    private var deadline: Double
    private var began = 0.0
    private var checkTimer: Timer?
    private var end: Timer?
    private var isPaused = false
    private var isSilent = false
    private var isCheckPlanned = false

    /// - Parameters:
    ///   - budget: seconds, also after a renewal.
    ///   - elapsed: how many seconds of the budget are over already.
    package init(loop: any Scheduler, budget: Double, elapsed: Double) {
        self.loop = loop
        self.budget = budget
        deadline = loop.now + budget - elapsed
    }

    package func begin() {
        isSilent = false
        began = loop.now
        scheduleCheck(in: Self.silence)
        awaitEnd(deadline - loop.now - Self.silence - Self.shutdownReserve) { [weak self] in self?.freeze() }
    }

    /// A push has arrived.
    package func renew() {
        if isPaused {
            isPaused = false
            pause(false)
        }
        deadline = loop.now + budget
        renewed()
        begin()
    }

    /// Something changed: the process may have caught up.
    package func active() {
        guard isSilent, !isPaused, !isCheckPlanned else { return }
        isCheckPlanned = true
        // In the loop's next turn: the current work is finished first.
        loop.enqueue { [weak self] in
            self?.isCheckPlanned = false
            self?.endIfCaughtUp()
        }
    }

    private func scheduleCheck(in seconds: Double) {
        checkTimer?.cancel()
        checkTimer = loop.schedule(after: seconds) { [weak self] in
            self?.isSilent = true
            self?.endIfCaughtUp()
        }
    }

    private func endIfCaughtUp() {
        // A push may have arrived since the check was scheduled.
        guard isSilent, !isPaused else { return }
        let mayPrepare = loop.now - began < Self.preparation
        if isCaughtUp(), !mayPrepare || !isPreparing() { finish(.stopped) } else { scheduleCheck(in: Self.pause) }
    }

    private func freeze() {
        isPaused = true
        checkTimer?.cancel()
        checkTimer = nil
        pause(true)
        awaitEnd(Self.silence) { [weak self] in self?.finish(.unfinished) }
    }

    private func awaitEnd(_ seconds: Double, _ body: @escaping () -> Void) {
        end?.cancel()
        end = loop.schedule(after: max(0, seconds), body)
    }
}
