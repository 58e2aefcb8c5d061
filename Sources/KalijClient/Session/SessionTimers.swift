import KalijTransport

/// The timers of one connection; all of them only give up, what gives up is tried again.
final class SessionTimers {
    private var deadline: Timer?
    private var stable: Timer?
    private var answer: Timer?
    private var keepalive: Timer?
    private var archive: Timer?
    /// Whether the session has lasted long enough to trust the way to the server.
    private(set) var wasStable = false
    /// Whether anything was received since the last look.
    var heard = false
    /// Whether anything was received since an answer is awaited.
    var heardMeanwhile = false

    /// A session must be there within `seconds`.
    func deadline(_ seconds: Double, on loop: any Schedule, _ body: @escaping () -> Void) {
        deadline?.cancel()
        deadline = loop.schedule(after: seconds, body)
    }

    /// The session is there.
    func established(stableAfter seconds: Double, on loop: any Schedule) {
        deadline?.cancel()
        deadline = nil
        stable = loop.schedule(after: seconds) { [weak self] in self?.wasStable = true }
    }

    /// An answer must come within `seconds`.
    func awaitAnswer(_ seconds: Double, on loop: any Schedule, _ body: @escaping () -> Void) {
        answer?.cancel()
        heardMeanwhile = false
        answer = loop.schedule(after: seconds, body)
    }

    func answered() {
        answer?.cancel()
        answer = nil
    }

    func keepalive(_ seconds: Double, on loop: any Schedule, _ body: @escaping () -> Void) {
        keepalive?.cancel()
        keepalive = loop.schedule(after: seconds, body)
    }

    /// The archive is to be asked again in `seconds`.
    func archive(_ seconds: Double, on loop: any Schedule, _ body: @escaping () -> Void) {
        archive?.cancel()
        archive = loop.schedule(after: seconds, body)
    }

    func cancel() {
        for timer in [deadline, stable, answer, keepalive, archive] { timer?.cancel() }
        (deadline, stable, answer, keepalive, archive) = (nil, nil, nil, nil, nil)
        wasStable = false
        heard = false
    }
}
