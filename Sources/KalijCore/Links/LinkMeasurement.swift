/// A link as measured, and how long an answer over the link may take.
package struct LinkMeasurement: Equatable, Sendable {
    /// The smoothed round trip, in seconds; nil if nothing was measured.
    package var roundTrip: Double?
    /// How much the round trip varies, in seconds.
    package var variation: Double?
    /// Arriving bytes a second; nil if nothing was measured.
    package var bytesPerSecond: Double?

    package init(roundTrip: Double? = nil, variation: Double? = nil, bytesPerSecond: Double? = nil) {
        (self.roundTrip, self.variation, self.bytesPerSecond) = (roundTrip, variation, bytesPerSecond)
    }

    /// In seconds: no answer is missed earlier, as a segment that TCP has to send again takes about a second.
    private static let minTimeout = 2.0
    /// In seconds: no silence is longer.
    package static let maxTimeout = 60.0
    /// In seconds: as long as nothing was measured, as on the very first connection.
    private static let unknown = 4.0

    /// Seconds within which a response queued behind so many bytes should begin to arrive (RFC 6298, 2).
    package func timeout(behind bytes: Int = 0) -> Double {
        let answer = roundTrip.map { max(Self.minTimeout, $0 + 4 * (variation ?? $0 / 2)) } ?? Self.unknown
        return min(Self.maxTimeout, answer + Double(bytes) / max(1, bytesPerSecond ?? .infinity))
    }

    /// Seconds without a byte after which a connection is given up: four timeouts, each twice the timeout before (RFC 6298, 5.5).
    package func silence(behind bytes: Int = 0) -> Double { min(Self.maxTimeout, 15 * timeout(behind: bytes)) }

    /// Seconds without a byte after which a pipelined step of the negotiation (`Letter`) counts as ignored.
    package var letter: Double { min(Self.maxTimeout, 4 * timeout()) }
}
