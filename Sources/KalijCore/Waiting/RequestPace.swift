import KalijHandlers
import KalijStore

/// The pace at which the engine repeats requests for an outside cause: a server whose responses contradict its lists, a room that
/// admits the account and then treats it as unknown. So many requests are sent at once; then each pause is twice the pause
/// before. Idle time in which a request could have been sent lowers the count, by one for each first pause: an occasional request
/// of the user is never delayed.
package struct RequestPace: Sendable, Equatable {
    /// How many requests leave at once.
    package let burst: Int64
    /// The first pause and the longest, in milliseconds.
    package let (pause, longest): (Int64, Int64)

    package init(_ burst: Int64, atOnceThen pause: Duration, upTo longest: Duration) {
        (self.burst, self.pause, self.longest) = (burst, pause.milliseconds, longest.milliseconds)
    }

    /// How many requests were sent in a row, and when the last of them is sent.
    struct Past: Equatable { var (count, last): (Int64, Int64) }

    /// The time of the next request, `now` or later. Waiting requests share a time: if the first is no longer needed, as after a
    /// lost session, the next one takes its time. Otherwise each of them would delay the last one.
    func next(after past: Past, now: Int64) -> Int64 {
        let past = settled(past, now: now)
        return past.last > now ? past.last : max(now, due(after: past))
    }

    /// The history after a request that was made at `now` and is sent at `time`.
    func recording(_ time: Int64, after past: Past, now: Int64) -> Past {
        let past = settled(past, now: now)
        guard past.last <= now else { return past }
        let idle = max(0, now - due(after: past))
        return Past(count: max(0, past.count - idle / max(1, pause)) + 1, last: time)
    }

    /// A request within the burst did not wait. If it was sent after `now`, the machine was started again, and the steady time has fallen
    /// back by some seconds.
    private func settled(_ past: Past, now: Int64) -> Past {
        past.count > burst ? past : Past(count: past.count, last: min(past.last, now))
    }

    private func due(after past: Past) -> Int64 { SteadyTime.sum(past.last, gap(past.count)) }

    private func gap(_ count: Int64) -> Int64 {
        guard count >= burst else { return 0 }
        // fits: at most 2^20 pauses of milliseconds; `longest` is reached long before
        return min(longest, pause << min(count - burst, 20))
    }
}

/// A request that the engine sends by itself, and that an outside cause can make it repeat. A request over the pace waits for its
/// time, outside of the queue.
package protocol PacedHandler<Context>: Handler {
    static var pace: RequestPace { get }
    /// What the requests are about: requests about different things do not wait for one another.
    var paceKey: String { get }
}

/// When the next request of a name and key may leave. The rows outlive processes and sessions: a loop does not begin anew with each
/// start.
package struct Pacing {
    package let step: Step

    package init(step: Step) { self.step = step }
    private var database: Database { step.database }
    private var account: Value { .integer(step.account.id) }

    /// The age at which a row expires, in milliseconds: no pace has a longer pause.
    private static let forgotten: Int64 = 7 * 86_400_000

    /// How many milliseconds the next request has to wait; 0 if it may leave now.
    package func wait(_ name: String, _ key: String, _ pace: RequestPace) throws -> Int64 {
        let now = step.steady.now
        return pace.next(after: try past(name, key), now: now) - now
    }

    /// A request is sent, as soon as the pace permits.
    /// - Returns: how many milliseconds it has to wait.
    @discardableResult
    package func acquire(_ name: String, _ key: String, _ pace: RequestPace) throws -> Int64 {
        let now = step.steady.now
        let past = try past(name, key)
        let time = pace.next(after: past, now: now)
        let new = pace.recording(time, after: past, now: now)
        try database.run(
            "INSERT OR REPLACE INTO pace(account, name, key, number, last) VALUES (?, ?, ?, ?, ?)",
            [account, .text(name), .text(key), .integer(new.count), .integer(new.last)])
        try removeOld(now)
        return time - now
    }

    private func removeOld(_ now: Int64) throws {
        let old = try database.statement(
            "SELECT name, key FROM pace INDEXED BY pace_last WHERE account = ? AND last < ? LIMIT 2"
        ).all([account, .integer(now - Self.forgotten)]) { ($0.text("name"), $0.text("key")) }
        for (name, key) in old { try forget(name, key) }
    }

    /// Resets the pace of requests of this name, or with this key alone: the user or a new session requests anew.
    package func forget(_ name: String, _ key: String? = nil) throws {
        try database.run(
            "DELETE FROM pace WHERE account = ?1 AND name = ?2 AND key = coalesce(?3, key)",
            [account, .text(name), .optional(key)])
    }

    private func past(_ name: String, _ key: String) throws -> RequestPace.Past {
        try database.statement("SELECT number, last FROM pace WHERE account = ? AND name = ? AND key = ?")
            .first([account, .text(name), .text(key)]) {
                RequestPace.Past(count: $0.integer("number"), last: $0.integer("last"))
            } ?? RequestPace.Past(count: 0, last: 0)
    }
}

/// A request over its pace is due. A request whose handler no longer waits is not sent.
struct RequestDue: Handler {
    static let name = "promise.request"
    let id: String
    let stanza: [UInt8]

    func call(_: Void, in step: Step) throws {
        guard try Requests(step: step).isWaiting(for: id) else { return }
        try OutboundQueue(database: step.database, account: step.account.id)
            .append(stanza, message: nil, request: id)
        step.flush()
    }
}
