import KalijSteps
import KalijTransport

/// Measures the link of a connection: the round trip by TCP and by our own questions, whichever is the slower, because a proxy that
/// ends TCP hides the link behind it; and the rate by bytes of which more are known to follow.
struct LinkMeter {
    /// The measure so far; at first that of an earlier connection.
    private(set) var measure: LinkMeasurement
    /// What the way to the session has cost; nil before.
    private(set) var login: EndpointRow.LoginCost?
    private var begun = 0.0
    private var system: RoundTrip?
    private var own: (smoothed: Double, variation: Double)?
    /// Whether only TCP's connecting was measured, which a proxy may have answered.
    private var isOwnOfTCP = false
    /// When a question left, and how many bytes had arrived by then; nil if no question is open.
    private var question: (at: Double, received: Int)?
    private var received = 0
    /// Whether the rate is only guessed from a handshake.
    private var isGuess = false
    /// Bytes of which more are known to follow: when the first of them came, and how many came after the first.
    private var burst: (first: Double, bytes: Int)?

    /// A burst of fewer bytes, or of a shorter time in seconds, tells little.
    private static let (leastBytes, leastTime) = (4000, 0.25)
    /// Certificates have more bytes.
    private static let leastHandshake = 1500
    /// An answer behind more bytes says more about the rate than about the round trip.
    private static let quickAnswer = 3000

    /// - Parameter earlier: the measure of an earlier connection to the address.
    init(_ earlier: LinkMeasurement = LinkMeasurement()) { measure = earlier }

    /// A connection is begun.
    mutating func begin(at now: Double) { begun = now }

    /// There is a session.
    mutating func loggedIn(_ traffic: Traffic, at now: Double) {
        login = EndpointRow.LoginCost(
            sent: traffic.sent, received: traffic.received, milliseconds: Int(max(0, now - begun) * 1000))
    }

    /// TLS is up. The server's part of the handshake takes a round trip and the time of its bytes; a resumed session has too few bytes
    /// to tell anything. The server's time for the handshake is counted, too: the guess is too low rather than too high.
    mutating func secured(_ times: HandshakeTimes) {
        note(own: times.connect)
        isOwnOfTCP = true
        let transfer = times.handshake - times.connect
        guard transfer > 0, times.received >= Self.leastHandshake else { return }
        let guess = Double(times.received) / transfer
        guard measure.bytesPerSecond.map({ isOther(guess, than: $0, transfer) }) ?? true else { return }
        measure.bytesPerSecond = guess
        isGuess = true
    }

    /// Whether the way to the server is another one than before, as on a train instead of at home. A short handshake is slow by the
    /// server's work.
    private func isOther(_ guess: Double, than rate: Double, _ transfer: Double) -> Bool {
        guess > 4 * rate || (guess < rate / 4 && transfer >= Self.leastTime)
    }

    /// What TCP has measured itself.
    mutating func noticed(_ roundTrip: RoundTrip?) {
        system = roundTrip
        combine()
    }

    /// A question left. Of several open questions the first counts.
    mutating func asked(at now: Double) { question = question ?? (now, received) }

    /// The first bytes of an answer may have come.
    mutating func answered(at now: Double) {
        guard let question else { return }
        self.question = nil
        if received - question.received <= Self.quickAnswer { note(own: now - question.at) }
    }

    /// Bytes have arrived in one turn of the loop.
    /// - Parameter isMoreExpected: whether the server has more to send, the rest of a page; and so it has as long as a question is
    ///   open. Without that knowledge a slow link looks like a friend who writes slowly.
    mutating func arrived(_ bytes: Int, isMoreExpected: Bool, at now: Double) {
        let isMoreExpected = isMoreExpected || question != nil
        received &+= bytes
        if let begun = burst {
            burst = (begun.first, begun.bytes + bytes)
            if !isMoreExpected || begun.bytes + bytes >= 16 * Self.leastBytes { endBurst(at: now) }
        } else if isMoreExpected {
            burst = (now, 0)
        }
    }

    private mutating func endBurst(at now: Double) {
        guard let burst else { return }
        self.burst = nil
        let time = now - burst.first
        guard burst.bytes >= Self.leastBytes, time > 0 else { return }
        // In a shorter time the sizes of the system's buffers count more than the link.
        guard time >= Self.leastTime || burst.bytes >= 4 * Self.leastBytes else { return }
        let rate = Double(burst.bytes) / time
        measure.bytesPerSecond = isGuess ? rate : measure.bytesPerSecond.map { ($0 + rate) / 2 } ?? rate
        isGuess = false
    }

    /// RFC 6298, 2.
    private mutating func note(own sample: Double) {
        guard sample >= 0, sample.isFinite else { return }
        if let own, !isOwnOfTCP {
            let variation = 0.75 * own.variation + 0.25 * abs(own.smoothed - sample)
            self.own = (0.875 * own.smoothed + 0.125 * sample, variation)
        } else {
            (own, isOwnOfTCP) = ((sample, sample / 2), false)
        }
        combine()
    }

    private mutating func combine() {
        if let own, own.smoothed >= system?.smoothed ?? 0 {
            (measure.roundTrip, measure.variation) = own
        } else if let system {
            (measure.roundTrip, measure.variation) = (system.smoothed, system.variance)
        }
    }
}
