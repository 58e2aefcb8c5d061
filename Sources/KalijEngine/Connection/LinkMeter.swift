import KalijCore
import KalijTransport

/// Measures the link of a connection. The round trip is the larger of TCP's measurement and that of the stream's own requests,
/// because a proxy that terminates TCP hides the link behind it. The rate is measured by bytes that are followed by more, as far
/// as can be determined.
package struct LinkMeter {
    /// The measurement so far; initially that of an earlier connection.
    package private(set) var measure: LinkMeasurement
    /// The cost of establishing the session; nil before.
    package private(set) var login: EndpointRow.LoginCost?
    private var begun = 0.0
    private var system: RoundTrip?
    private var own: (smoothed: Double, variation: Double)?
    /// Whether only the TCP handshake was measured, which a proxy may have completed.
    private var isOwnOfTCP = false
    /// When a request was sent, and how many bytes were received by then; nil if no request is outstanding.
    private var question: (at: Double, received: Int)?
    private var received = 0
    /// Whether the rate is only an estimate from a TLS handshake.
    private var isGuess = false
    /// A burst, which further bytes are expected to follow: when its first bytes were received, and how many bytes after those.
    private var burst: (first: Double, bytes: Int)?

    /// The minimum size and the minimum duration in seconds of a burst that determines the rate.
    private static let (leastBytes, leastTime) = (4000, 0.25)
    /// The minimum size of a handshake with certificates.
    private static let minHandshakeSize = 1500
    /// A response that follows more bytes than this depends on the rate rather than on the round trip.
    private static let quickAnswer = 3000

    /// - Parameter earlier: the measurement of an earlier connection to the address.
    package init(_ earlier: LinkMeasurement = LinkMeasurement()) { measure = earlier }

    /// A connection is being opened.
    package mutating func begin(at now: Double) { begun = now }

    /// The session is established.
    package mutating func loggedIn(_ traffic: Traffic, at now: Double) {
        login = EndpointRow.LoginCost(
            sent: traffic.sent, received: traffic.received, milliseconds: Int(max(0, now - begun) * 1000))
    }

    /// TLS is established. The server's part of the handshake takes a round trip and the time of its bytes; a resumed session has
    /// too few bytes for an estimate. The server's computing time is included: the estimate is too low rather than too high.
    package mutating func secured(_ times: HandshakeTimes) {
        record(own: times.connect)
        isOwnOfTCP = true
        let transfer = times.handshake - times.connect
        guard transfer > 0, times.received >= Self.minHandshakeSize else { return }
        let guess = Double(times.received) / transfer
        guard measure.bytesPerSecond.map({ isOther(guess, than: $0, transfer) }) ?? true else { return }
        measure.bytesPerSecond = guess
        isGuess = true
    }

    /// Whether the path to the server differs from the earlier one, as on a train instead of at home. A short handshake may be
    /// slow because of the server's computing time.
    private func isOther(_ guess: Double, than rate: Double, _ transfer: Double) -> Bool {
        guess > 4 * rate || (guess < rate / 4 && transfer >= Self.leastTime)
    }

    /// TCP's own measurement.
    package mutating func noticed(_ roundTrip: RoundTrip?) {
        system = roundTrip
        combine()
    }

    /// A request was sent. Of several outstanding requests the first counts.
    package mutating func roundTripBegan(at now: Double) { question = question ?? (now, received) }

    /// The first bytes of a response may have been received.
    package mutating func roundTripEnded(at now: Double) {
        guard let question else { return }
        self.question = nil
        if received - question.received <= Self.quickAnswer { record(own: now - question.at) }
    }

    /// Bytes were received in one turn of the loop.
    /// - Parameter isMoreExpected: whether the server has more to send, the rest of a page. The same holds while a request is
    ///   outstanding. Otherwise a slow link is indistinguishable from a contact who writes slowly.
    package mutating func arrived(_ bytes: Int, isMoreExpected: Bool, at now: Double) {
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
        // Over a shorter time the sizes of the system's buffers dominate.
        guard time >= Self.leastTime || burst.bytes >= 4 * Self.leastBytes else { return }
        let rate = Double(burst.bytes) / time
        measure.bytesPerSecond = isGuess ? rate : measure.bytesPerSecond.map { ($0 + rate) / 2 } ?? rate
        isGuess = false
    }

    /// Smooths the sample (RFC 6298 section 2).
    private mutating func record(own sample: Double) {
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
