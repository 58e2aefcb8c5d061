/// The starts and the kills of a run as shares.
public struct KillShares: Sendable {
    /// Starts killed before the server had answered.
    public let startsCutShort: Int
    /// The share of starts that ended in `<resumed/>`.
    public let resumed: Double
    /// The share of resumed sessions among those resumed or bound.
    public let resumedOfSessions: Double
    /// The share of kills at which messages had left and were not acknowledged.
    public let unacknowledgedOut: Double
    /// The share of kills at which the server had sent stanzas that were not acknowledged.
    public let unacknowledgedIn: Double

    init(_ result: KillResult) {
        startsCutShort = max(0, result.starts - result.startsResumed - result.startsBound)
        resumed = Self.share(result.startsResumed, of: result.starts)
        resumedOfSessions = Self.share(result.resumed, of: result.resumed + result.bound)
        unacknowledgedOut = Self.share(result.killsWithUnacknowledgedOut, of: result.kills)
        unacknowledgedIn = Self.share(result.killsWithUnacknowledgedIn, of: result.kills)
    }

    private static func share(_ part: Int, of whole: Int) -> Double {
        whole == 0 ? 0 : Double(part) / Double(whole)
    }
}
