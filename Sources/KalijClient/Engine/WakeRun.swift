import KalijTransport

/// How long a `wake` run goes on: until it has caught up and no push has come for a while, or to the end of its budget.
///
/// What is said meanwhile does not keep it: once it has let go, the server pushes for that. Before the end of the budget
/// stanzas are no longer handled; a push that comes then gives a new budget, and they are.
final class WakeRun {
    /// Seconds, if the application does not say: the system gives 30.
    static let budget = 25.0
    /// Seconds for a push to come.
    static let silence = 1.5
    /// Seconds for letting everything go.
    private static let farewell = 1.0
    /// Seconds between two looks whether it has caught up, if nothing happens.
    private static let pause = 0.25

    var isCaughtUp: () -> Bool = { true }
    /// Ends the handling of stanzas for a while, or goes on with it.
    var pause: (Bool) -> Void = { _ in }
    var renewed: () -> Void = {}
    var finish: (Engine.Ending) -> Void = { _ in }
    private let loop: any Schedule
    private let budget: Double
    /// The end of the budget, on the loop's clock.
    private var deadline: Double
    private var look: Timer?
    private var end: Timer?
    private var isPaused = false
    private var isSilent = false
    private var isLookPlanned = false

    /// - Parameters:
    ///   - budget: seconds, also after a renewal.
    ///   - elapsed: how many of them are over already.
    init(loop: any Schedule, budget: Double, elapsed: Double) {
        self.loop = loop
        self.budget = budget
        deadline = loop.now + budget - elapsed
    }

    func begin() {
        isSilent = false
        look(in: Self.silence)
        awaitEnd(deadline - loop.now - Self.silence - Self.farewell) { [weak self] in self?.freeze() }
    }

    /// A push has come.
    func renew() {
        if isPaused {
            isPaused = false
            pause(false)
        }
        deadline = loop.now + budget
        renewed()
        begin()
    }

    /// Something has happened, after which it may have caught up.
    func active() {
        guard isSilent, !isPaused, !isLookPlanned else { return }
        isLookPlanned = true
        // In the loop's next turn: what is at hand is finished first.
        loop.enqueue { [weak self] in
            self?.isLookPlanned = false
            self?.endIfCaughtUp()
        }
    }

    private func look(in seconds: Double) {
        look?.cancel()
        look = loop.schedule(after: seconds) { [weak self] in
            self?.isSilent = true
            self?.endIfCaughtUp()
        }
    }

    private func endIfCaughtUp() {
        // A push may have come since this was planned.
        guard isSilent, !isPaused else { return }
        if isCaughtUp() { finish(.stopped) } else { look(in: Self.pause) }
    }

    private func freeze() {
        isPaused = true
        look?.cancel()
        look = nil
        pause(true)
        awaitEnd(Self.silence) { [weak self] in self?.finish(.unfinished) }
    }

    private func awaitEnd(_ seconds: Double, _ body: @escaping () -> Void) {
        end?.cancel()
        end = loop.schedule(after: max(0, seconds), body)
    }
}
