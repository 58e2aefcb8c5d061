/// The measured quality of an account's link to its server. The driver of the account measures it; nothing here decides correctness.
public struct LinkQuality: Sendable, Equatable {
    /// Received bytes a second; nil if not measured.
    public var bytesPerSecond: Double?
    /// Seconds; nil if not measured.
    public var roundTrip: Double?
    /// Whether the user interface is inactive: then a page of an archive may take longer.
    public var isInactive: Bool
    /// Whether the process runs for a short while; set by the runner (``StepRunner/isBrief``).
    package var isBrief = false

    /// A link without measurements counts as quick.
    public init(bytesPerSecond: Double? = nil, roundTrip: Double? = nil, isInactive: Bool = false) {
        (self.bytesPerSecond, self.roundTrip, self.isInactive) = (bytesPerSecond, roundTrip, isInactive)
    }

    /// Whether the link takes less than 64 kbit/s.
    public var isSlow: Bool { bytesPerSecond.map { $0 < 8000 } ?? false }

    /// What was measured last.
    package mutating func update(_ measure: LinkMeasurement) {
        (bytesPerSecond, roundTrip) = (measure.bytesPerSecond, measure.roundTrip)
    }
}
