import KalijTransport

/// How long a `wake` run goes on: until it has caught up and no push has come for a while, or to the end of its budget.
///
/// Before the end of the budget stanzas are no longer handled; a push that comes then gives a new budget, and they are.
final class WakeRun {
    /// Seconds, if the application does not say: the system gives 30.
    static let budget = 25.0
    /// Seconds for a push to come.
    static let silence = 1.5
    /// Seconds for letting everything go.
    private static let farewell = 1.0

    var isCaughtUp: () -> Bool = { true }
    /// Ends the handling of stanzas for a while, or goes on with it.
    var pause: (Bool) -> Void = { _ in }
    var renewed: () -> Void = {}
    var finish: (Engine.Ending) -> Void = { _ in }
    private let loop: any Schedule
    private let budget: Double
    private var quiet: Timer?
    private var end: Timer?
    private var isPaused = false

    init(loop: any Schedule, budget: Double) {
        self.loop = loop
        self.budget = budget
    }

    func begin() {
        awaitSilence()
        awaitEnd(budget - Self.silence - Self.farewell) { [weak self] in self?.freeze() }
    }

    /// A push has come.
    func renew() {
        if isPaused {
            isPaused = false
            pause(false)
        }
        renewed()
        begin()
    }

    /// Something has happened.
    func active() { if quiet != nil { awaitSilence() } }

    private func awaitSilence() {
        quiet?.cancel()
        quiet = loop.schedule(after: Self.silence) { [weak self] in
            guard let self else { return }
            if isCaughtUp() { finish(.stopped) } else { awaitSilence() }
        }
    }

    private func freeze() {
        isPaused = true
        quiet?.cancel()
        quiet = nil
        pause(true)
        awaitEnd(Self.silence) { [weak self] in self?.finish(.unfinished) }
    }

    private func awaitEnd(_ seconds: Double, _ body: @escaping () -> Void) {
        end?.cancel()
        end = loop.schedule(after: max(0, seconds), body)
    }
}
