/// The health of one push service, and which pushes may be sent to it; a service does not affect the others.
///
/// A service that has not answered yet, or not lately, gets few pushes at a time; one that fails several times in a row rests,
/// and gets a single push after the rest. Times are in seconds of the loop's clock.
struct ServiceHealth: Sendable {
    /// The decision about a push.
    enum Gate: Sendable, Equatable {
        case open
        /// The service accepts no pushes for so long.
        case held(Milliseconds)
        /// Not now, with the reason.
        case shut(String)
    }

    /// The most pushes in flight to a service that answers, and to one that has not been proven to.
    private static let maxInFlight = (proven: 1_000, unproven: 32)
    /// Failures in a row before a service rests, and the length of the rests.
    private static let failuresToRest = 3
    private static let rests = (first: 1.0, longest: 60.0)

    private(set) var inFlight = 0
    private var isProven = false
    private var failures = 0
    private var reason = ""
    private var rest = rests.first
    private var restUntil = 0.0
    private var busy = 0
    private var heldUntil = 0.0

    func isResting(now: Double) -> Bool { failures >= Self.failuresToRest || now < restUntil }
    func isHeld(now: Double) -> Bool { now < heldUntil }

    func gate(now: Double) -> Gate {
        if now < heldUntil { return .held(Milliseconds((heldUntil - now) * 1000) + 1) }
        if now < restUntil { return .shut(reason) }
        // One push shows whether the service is back.
        if failures >= Self.failuresToRest, inFlight > 0 { return .shut(reason) }
        let most = isProven ? Self.maxInFlight.proven : Self.maxInFlight.unproven
        return inFlight < most ? .open : .shut("\(inFlight) pushes are on their way to the service already")
    }

    mutating func sent() { inFlight += 1 }

    /// - Parameter verdict: the service's, of a push that was sent.
    mutating func ended(_ verdict: Verdict, now: Double) {
        inFlight -= 1
        switch verdict {
        case .transient(let words): failed(words, now: now)
        case .tooMany(_, let retryAfter):
            answered()
            busy += 1
            // Of one endpoint alone, the answer is about that endpoint.
            if busy >= Self.failuresToRest { heldUntil = max(heldUntil, now + Double(retryAfter ?? 60_000) / 1000) }
        case .delivered, .dead, .bad, .staleCredentials, .fault, .unaccepted:
            answered()
            busy = 0
            isProven = true
        }
    }

    private mutating func answered() {
        failures = 0
        restUntil = 0
        rest = Self.rests.first
    }

    private mutating func failed(_ words: String, now: Double) {
        isProven = false
        reason = words
        failures += 1
        // A failure of a push from before the rest does not prolong the rest.
        guard failures >= Self.failuresToRest, now >= restUntil else { return }
        restUntil = now + rest
        rest = min(2 * rest, Self.rests.longest)
    }
}
