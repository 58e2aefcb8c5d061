import KalijStore

/// The resumptions of a session since the server has acknowledged anything. A server may resume a session that it reads no more, and
/// each process may end before the silence is long enough to tell.
package struct UnreadSession: Equatable {
    /// How often the session was resumed.
    package let resumptions: Int64
    /// The time of the first, in milliseconds of the time of deadlines.
    let since: Int64?

    package init(resumptions: Int64, since: Int64?) { (self.resumptions, self.since) = (resumptions, since) }

    /// A resumption alone asks for nothing: from this one on the server is asked for an acknowledgement.
    private static let asked = 3
    /// After so many resumptions in so many milliseconds the session counts as lost.
    private static let (most, longest): (Int64, Int64) = (5, 180_000)

    /// Whether the server is to be asked for an acknowledgement.
    package var isDoubtful: Bool { resumptions >= Self.asked }

    /// Whether the session counts as lost at the time `now`.
    package func isLost(at now: Int64) -> Bool {
        guard resumptions >= Self.most, let since else { return false }
        return SteadyTime.sum(since, Self.longest) <= now
    }
}

extension UnreadSession {
    /// The session was resumed at `time`, in milliseconds of the time of deadlines.
    package static func resumed(at time: Int64, of account: Int64, in database: Database) throws {
        try database.run(
            """
            UPDATE session SET unread_since = CASE WHEN unread = 0 THEN ?1 ELSE unread_since END, unread = unread + 1
            WHERE account = ?2
            """, [.integer(time), .integer(account)])
    }
}
