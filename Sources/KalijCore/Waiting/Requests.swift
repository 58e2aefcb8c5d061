import KalijAddress
import KalijHandlers
import KalijStore
import KalijXML

/// IQ requests that wait for an answer. The answer may reach another process than the request's.
///
/// A row is a waiting handler. A call or an invalidation first deletes the row, in the same step. So exactly one of
/// answer, timeout and invalidation reaches the handler.
package struct Requests {
    package let step: Step

    package init(step: Step) { self.step = step }
    private var database: Database { step.database }
    private var account: Value { .integer(step.account.id) }

    /// Stores `handler` as waiting for the answer of `responder` to the stanza `id`.
    package func register(_ id: String, responder: JID?, _ handler: StoredHandler, within milliseconds: Int64) throws {
        let now = step.steady.now
        let deadline = SteadyTime.sum(now, max(0, milliseconds))
        try database.run(
            "INSERT INTO request(account, id, responder, asked_at, deadline, name, handler) VALUES (?, ?, ?, ?, ?, ?, ?)",
            [
                account, .text(id), .text(ReplyAuthenticator(step).key(responder)),
                .integer(now), .integer(deadline), .text(handler.name), .blob(handler.bytes),
            ])
        try step.await(request: deadline)
    }

    /// Calls the handler that waits for `iq`, if the sender is the responder of the request (RFC 6120 8.1.2.1). All
    /// other answers are dropped: answers without a request, second answers, answers from another sender.
    package func answered(by iq: Element) throws {
        guard let id = iq["id"] else { return }
        let waiting = try database.statement("SELECT responder, sent FROM request WHERE account = ? AND id = ?")
            .first([account, .text(id)]) { ($0.text("responder"), $0.integer("sent")) }
        guard let (asked, sent) = waiting, try ReplyAuthenticator(step).mayAnswer(iq["from"], for: asked) else {
            return
        }
        guard let handler = try claim(id) else { return }
        step.answered(after: sent)
        try HandlerInvoker(step: step).call(handler, IQReply(iq))
    }

    /// Deletes the row of a request and returns its handler.
    private func claim(_ id: String) throws -> ClaimedHandler? {
        try database.statement("DELETE FROM request WHERE account = ? AND id = ? RETURNING handler, crashes")
            .first([account, .text(id)]) {
                ClaimedHandler(origin: .request, id: id, bytes: $0.blob("handler"), crashes: $0.integer("crashes"))
            }
    }

    // MARK: Requests without an answer

    /// The requests that may expire now.
    package enum Expired {
        /// All due requests: earlier stanzas of the server have arrived.
        case all
        /// Only requests that were never sent: without a connection, other responses may be in transit.
        case unsent
    }

    /// Calls the handler of the request with the earliest expired deadline; false if there is none.
    package func expireNext(_ which: Expired, until time: Int64) throws -> Bool {
        let due = try database.statement(
            "SELECT id, sent FROM request WHERE account = ?1 AND deadline <= ?2 AND sent <= ?3 ORDER BY deadline LIMIT 1"
        ).first([account, .integer(time), .integer(which == .all ? .max : 0)]) { ($0.text("id"), $0.integer("sent")) }
        guard let (due, sent) = due, let handler = try claim(due) else { return false }
        step.answered(after: sent)
        if which == .unsent {
            try unqueue(due)
            step.isForUnsent = true
        }
        try HandlerInvoker(step: step).callAlone(handler, IQReply.timeout)
        return true
    }

    /// Invalidates requests whose responses are lost with the session. Requests that were never sent remain pending, and are sent
    /// in the next session.
    package func sessionLost() throws {
        try invalidate(
            try database.statement("SELECT id FROM request WHERE account = ? AND sent > 0 ORDER BY asked_at")
                .all([account]) { $0.text() }, .sessionLost)
    }

    /// Invalidates all requests.
    package func invalidateAll(_ reason: Invalidation) throws {
        try invalidate(
            try database.statement("SELECT id FROM request WHERE account = ? ORDER BY asked_at")
                .all([account]) { $0.text() }, reason)
    }

    /// Makes all waiting handlers dead letters.
    package func buryAll(_ reason: String) throws {
        let ids = try database.statement("SELECT id FROM request WHERE account = ?").all([account]) { $0.text() }
        for id in ids { if let handler = try claim(id) { try HandlerInvoker(step: step).bury(handler, reason) } }
    }

    private func invalidate(_ ids: [String], _ reason: Invalidation) throws {
        for id in ids {
            if let handler = try claim(id) {
                try HandlerInvoker(step: step).invalidate(handler, reason)
            }
        }
    }

    /// The next deadline after `time`; nil if there is none.
    package static func nextDeadline(after time: Int64, of account: Int64, in database: Database) throws -> Int64? {
        try database.statement("SELECT min(deadline) FROM request WHERE account = ? AND deadline > ?")
            .first([.integer(account), .integer(time)]) { $0.optionalInteger() } ?? nil
    }

    // MARK: Outgoing

    /// Records that the requests in `entries` are about to be sent: from now on their responses may arrive.
    package static func transmit(_ entries: [OutboundQueue.Entry], in step: Step) throws {
        for id in entries.compactMap(\.request) {
            try step.database.run(
                "UPDATE request SET sent = ? WHERE account = ? AND id = ?",
                [.integer(max(1, step.steady.now)), .integer(step.account.id), .text(id)])
        }
    }

    /// Removes requests from the queue that nobody waits for. Only at the beginning of a connection, when no entry in
    /// the queue is in the server's count.
    package func unqueueExpired() throws {
        try database.run(
            """
            DELETE FROM queue WHERE account = ?1 AND request IS NOT NULL
                AND NOT EXISTS (SELECT 1 FROM request WHERE account = ?1 AND id = queue.request AND deadline > ?2)
            """, [account, .integer(step.steady.now)])
    }

    private func unqueue(_ id: String) throws {
        try database.run(
            "DELETE FROM queue WHERE account = ? AND request IS NOT NULL AND request = ?", [account, .text(id)])
    }

    // MARK: By name

    /// Whether handlers of these names wait.
    package func isWaiting(_ names: [String]) throws -> Bool {
        try names.contains { name in
            try database.statement("SELECT 1 FROM request WHERE account = ? AND name = ? LIMIT 1")
                .first([account, .text(name)]) { _ in true } ?? false
        }
    }

    /// Whether a request with a handler of this name waits and has not left.
    package func isUnsent(_ name: String) throws -> Bool {
        let ids = try database.statement("SELECT id FROM request WHERE account = ? AND name = ?")
            .all([account, .text(name)]) { $0.text() }
        return try ids.contains { id in
            try database.statement("SELECT sent = 0 FROM request WHERE account = ? AND id = ?")
                .first([account, .text(id)]) { $0.bool() } ?? false
        }
    }

    /// Whether a request of this name to `responder` was not sent yet: its response will also cover what has happened since.
    package func isUnsent(_ name: String, to responder: JID) throws -> Bool {
        try database.statement(
            """
            SELECT 1 FROM request INDEXED BY request_name WHERE account = ? AND name = ? AND responder = ? AND sent = 0 LIMIT 1
            """
        ).first([account, .text(name), .text(ReplyAuthenticator(step).key(responder))]) { _ in true } ?? false
    }

    /// Whether a handler waits for the answer to the request `id`.
    package func isWaiting(for id: String) throws -> Bool {
        try database.statement("SELECT 1 FROM request WHERE account = ? AND id = ?")
            .first([account, .text(id)]) { _ in true } ?? false
    }

    /// Forgets the handler that waits for the request `id`, without a call.
    package func forget(id: String) throws {
        try database.run("DELETE FROM request WHERE account = ? AND id = ?", [account, .text(id)])
    }

    /// Deletes handlers of a name, without a call: their owner sends the requests again.
    /// - Parameter unqueueing: whether the requests are also removed from the queue.
    package func forget(_ name: String, unqueueing: Bool = false) throws {
        if unqueueing {
            try database.run(
                """
                DELETE FROM queue WHERE account = ?1 AND request IS NOT NULL
                    AND request IN (SELECT id FROM request WHERE account = ?1 AND name = ?2)
                """, [account, .text(name)])
        }
        try database.run("DELETE FROM request WHERE account = ? AND name = ?", [account, .text(name)])
    }
}
