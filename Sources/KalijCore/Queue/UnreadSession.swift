import KalijStore

/// The resumptions of a session since the server last acknowledged a stanza. A server may resume a session that it no longer
/// reads, and each process may end before the silence is long enough to detect this.
package struct UnreadSession: Equatable {
    /// How often the session was resumed.
    package let resumptions: Int64
    /// The time of the first resumption, in milliseconds of the steady time.
    let since: Int64?

    package init(resumptions: Int64, since: Int64?) { (self.resumptions, self.since) = (resumptions, since) }

    /// A resumption alone requests no acknowledgement: one is requested from this resumption on.
    private static let requestThreshold = 3
    /// After so many resumptions over so many milliseconds the session counts as lost.
    private static let (most, longest): (Int64, Int64) = (5, 180_000)

    /// Whether an acknowledgement is to be requested from the server.
    package var isDoubtful: Bool { resumptions >= Self.requestThreshold }

    /// Whether the session counts as lost at the time `now`.
    package func isLost(at now: Int64) -> Bool {
        guard resumptions >= Self.most, let since else { return false }
        return SteadyTime.sum(since, Self.longest) <= now
    }
}

extension UnreadSession {
    /// The session was resumed at `time`, in milliseconds of the steady time.
    package static func resumed(at time: Int64, of account: Int64, in database: Database) throws {
        try database.run(
            """
            UPDATE session SET unread_since = CASE WHEN unread = 0 THEN ?1 ELSE unread_since END, unread = unread + 1
            WHERE account = ?2
            """, [.integer(time), .integer(account)])
    }
}
