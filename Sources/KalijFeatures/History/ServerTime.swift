import KalijCore
import KalijAddress
import KalijHandlers
import KalijStore
import KalijXML

import FoundationEssentials

/// The time of the account's server. The server stamps archived messages, so times for comparison with stamps are in the server's
/// time: this machine's clock may be wrong.
///
/// The server is queried once in each session (XEP-0202). The account's first reading of the archive waits for the response. The
/// computed time is never later than the server's time: of the two possible errors, a notification of a message from just before the
/// account was added is the smaller.
struct ServerTime {
    package let step: Step
    private var account: Value { .integer(step.account.id) }

    package static let namespace = "urn:xmpp:time"
    /// The longest delay of the first reading of the archive.
    private static let timeout = Duration.seconds(20)
    /// In milliseconds: a response with a longer round trip is less accurate than an earlier response.
    private static let maxRoundTrip: Int64 = 10_000
    /// In milliseconds: the assumed error of this machine's clock if the server does not support XEP-0202; the clock may be fast by
    /// this much.
    private static let error: Int64 = 3_600_000

    /// Requests the time in a new session.
    package func requestTime() throws {
        try Requests(step: step).forget(ServerTimeResponse.name, unqueueing: true)
        guard let server = try? JID(step.account.jid.domain) else { return }
        try step.send(
            .request(.get, Element("time", xmlns: Self.namespace), to: server), then: ServerTimeResponse(),
            within: Self.timeout)
    }

    /// The session is resumed: requests the time again if the machine was restarted in the meantime, which voids the stored time.
    func refresh() throws {
        let isVoid = try step.database.statement(
            "SELECT 1 FROM server_time WHERE account = ? AND ahead IS NOT NULL AND base <> ?"
        )
        .first([account, .integer(step.steady.base)]) { _ in true }
        if isVoid ?? false, try !isAwaited { try requestTime() }
    }

    /// Whether the response is outstanding.
    var isAwaited: Bool { get throws { try Requests(step: step).isWaiting([ServerTimeResponse.name]) } }

    /// Stores the server's time (XEP-0202 section 3).
    package func answered(_ iq: Element) throws {
        let utc: Date? = iq.findFirst("{urn:xmpp:time}time/utc#|datetime")
        guard let time = utc.flatMap({ Int64(exactly: ($0.timeIntervalSince1970 * 1000).rounded(.down)) }) else {
            return
        }
        let (ahead, overflow) = time.subtractingReportingOverflow(step.steady.now)
        guard !overflow else { return }
        let isQuick = step.roundTrip.map { $0 <= Self.maxRoundTrip } ?? false
        guard let storedAt = try AccountTable(step.database).storedAt(step.account.id) else { return }
        try step.database.run(
            """
            INSERT INTO server_time VALUES (?1, ?2, ?4, ?6 + ?2 - ?5)
            ON CONFLICT (account) DO UPDATE SET ahead = excluded.ahead, base = excluded.base,
                -- How long the machine was off a clock may not tell.
                since = coalesce(since, ?6 + ?2 - CASE base WHEN ?4 THEN 0 ELSE ?5 END)
                WHERE ?3 OR ahead IS NULL OR base <> excluded.base
            """,
            [
                account, .integer(ahead), .integer(isQuick ? 1 : 0), .integer(step.steady.base),
                .integer(Self.error), .integer(storedAt),
            ])
    }

    /// The server's time, or somewhat earlier.
    package var now: Int64 { get throws { try known ?? SteadyTime.sum(step.steady.now, -Self.error) } }

    /// The server's time as determined from its response, or somewhat earlier; nil without a response since the machine was started.
    var known: Int64? {
        get throws {
            let ahead =
                try step.database.statement("SELECT ahead FROM server_time WHERE account = ? AND base = ?")
                .first([account, .integer(step.steady.base)]) { $0.optionalInteger() } ?? nil
            return ahead.map { SteadyTime.sum(step.steady.now, $0) }
        }
    }

    /// The time when the account was added, in the server's time, or somewhat earlier, because stamps may be in whole seconds.
    package var since: Int64 {
        get throws {
            if let found = step.since { return found }
            let known =
                try step.database.statement("SELECT since FROM server_time WHERE account = ?")
                .first([account]) { $0.optionalInteger() } ?? nil
            let time = try known ?? AccountTable(step.database).storedAt(step.account.id).map { $0 - Self.error } ?? 0
            let whole = time - time % 1000
            step.since = whole
            return whole
        }
    }
}

/// The response to the request for the time.
struct ServerTimeResponse: InvalidatableHandler {
    package static let name = "server-time.told"

    func call(_ reply: IQReply, in step: Step) throws {
        if case .result(let iq) = reply { try ServerTime(step: step).answered(iq) }
        try step.catchUp.serverTimeSettled()
    }

    /// The next session sends the request again.
    func invalidate(_ reason: Invalidation, in step: Step) throws {}
}
