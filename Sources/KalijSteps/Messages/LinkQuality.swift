/// What is known of an account's way to its server. The driver of the account measures it; nothing here decides correctness.
public struct LinkQuality: Sendable, Equatable {
    /// Bytes in a second towards this machine; nil if that is not known.
    public var bytesPerSecond: Double?
    /// Seconds; nil if that is not known.
    public var roundTrip: Double?
    /// Whether nobody looks: then a page of an archive may take longer.
    public var isInactive: Bool
    /// Whether the process runs for a short while (``StepRunner/isBrief``): the runner says so.
    package var isBrief = false

    /// A link of which nothing is known counts as quick.
    public init(bytesPerSecond: Double? = nil, roundTrip: Double? = nil, isInactive: Bool = false) {
        (self.bytesPerSecond, self.roundTrip, self.isInactive) = (bytesPerSecond, roundTrip, isInactive)
    }

    /// Whether the link takes less than 64 kbit/s.
    public var isSlow: Bool { bytesPerSecond.map { $0 < 8000 } ?? false }

    /// What was measured last.
    package mutating func take(_ measure: LinkMeasurement) {
        (bytesPerSecond, roundTrip) = (measure.bytesPerSecond, measure.roundTrip)
    }
}
