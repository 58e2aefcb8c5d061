import KalijAddress
import KalijStore
import KalijStream
import KalijXML

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Reads what was archived while no session was there (XEP-0313): after each bind that is no resume, from the last
/// stored archive id to the end.
///
/// The archive is read before presence is announced, so that what was missed is stored before anything live, and once
/// more from there afterwards, for what was archived in between. Each page's answer moves the cursor; a session lost in
/// the middle begins anew from what is stored. Places in the order are given anew while reading, so that the order of
/// the archive wins over that of arrival.
struct CatchUp {
    let step: Step
    private var database: Database { step.database }
    private var account: Value { .integer(step.account.id) }

    enum Phase: String {
        case beforePresence = "before-presence"
        case afterPresence = "after-presence"
        case done
    }

    private struct State {
        let number: Int64
        let phase: Phase
        let queryID: String?
        let cursor: String?
        let since: Int64?
        let base: Int64
        let hadProblem: Bool
        /// Whether the archive was read to its end.
        var isFinished: Bool { phase == .done && !hadProblem }
    }

    /// How far an account's first login looks back, in milliseconds.
    private static let firstLogin: Int64 = 14 * 24 * 3600 * 1000
    /// How far before the time at which a message was stored the archive is read if it has lost that message.
    private static let slack: Int64 = 24 * 3600 * 1000
    /// How many stored messages are read again, because some servers deliver live in another order than they archive.
    private static let overlap: Int64 = 20

    /// Begins after a bind; `hasArchive` says whether there is something to read.
    ///
    /// One that did not come to its end goes on where it was: what was stored since, as it was delivered, has left a gap.
    func begin(hasArchive: Bool) throws {
        let base = try database.prepare("SELECT max(id) FROM message").first { $0.integer(0) } ?? 0
        let unfinished = try state().flatMap { $0.isFinished ? nil : $0 }
        let (cursor, since) = try unfinished.map { ($0.cursor, $0.since) } ?? anchor()
        try database.run(
            """
            INSERT INTO catchup(account, number, phase, cursor, since, base) VALUES (?, 1, 'before-presence', ?, ?, ?)
            ON CONFLICT (account) DO UPDATE SET number = number + 1, phase = excluded.phase, query_id = NULL,
                cursor = excluded.cursor, since = excluded.since, base = excluded.base, problem = NULL
            """, [account, .optional(cursor), .optional(since), .integer(base)])
        if hasArchive {
            try askPage()
        } else {
            try announcePresence()
            try finish(problem: "the server has no archive")
        }
    }

    /// A `<result/>` of the page that is being read; anything else that claims to be one is dropped.
    func result(_ result: Element, in message: Element) throws {
        guard let state = try state(), let id = result["id"], !id.isEmpty, result["queryid"] == state.queryID,
            state.phase != .done,
            message["from"].map({ JID.received($0).bare == step.account.jid }) ?? true,
            let forwarded = result.child("forwarded", "urn:xmpp:forward:0"),
            let archived = forwarded.child("message", "jabber:client")
        else { return }
        try Messages(step: step).receive(
            archived, archiveID: id, at: Received.delay(in: forwarded), catchup: state.number)
    }

    /// The answer to the question for a page: it moves the cursor.
    func page(_ iq: Element) throws {
        guard let state = try state(), state.phase != .done else { return }
        guard iq["type"] == "result", let fin = iq.child("fin", "urn:xmpp:mam:2") else { return try failed(iq, state) }
        let last = fin.child("set", "http://jabber.org/protocol/rsm")?.child("last")?.text
        try database.run(
            "UPDATE catchup SET cursor = coalesce(?, cursor) WHERE account = ?", [.optional(last), account])
        if fin["complete"] == "true" || fin["complete"] == "1" {
            try completed(state)
        } else if let last, last != state.cursor {
            try askPage()
        } else {
            try completed(state, problem: "the server's archive ended a page without saying where it goes on")
        }
    }

    private func completed(_ state: State, problem: String? = nil) throws {
        if state.phase == .beforePresence {
            try announcePresence()
            try database.run("UPDATE catchup SET phase = 'after-presence' WHERE account = ?", [account])
            if problem == nil { return try askPage() }
        }
        try settleOrder(state)
        try finish(problem: problem)
    }

    private func failed(_ iq: Element, _ state: State) throws {
        let error = StanzaError(iq)
        if error?.condition == .itemNotFound, state.cursor != nil {
            // The archive has lost the message that we stopped at (XEP-0313 4.3): go by time.
            try database.run("UPDATE catchup SET cursor = NULL WHERE account = ?", [account])
            return try askPage()
        }
        try completed(state, problem: "the server's archive refused: \(error?.description ?? "no reason given")")
    }

    private func askPage() throws {
        guard let state = try state() else { return }
        let queryID = UUID().uuidString.lowercased()
        let set = Element("set", xmlns: "http://jabber.org/protocol/rsm", children: [Element("max", text: "100")])
        let query = Element("query", xmlns: "urn:xmpp:mam:2", attributes: ["queryid": queryID])
        if let cursor = state.cursor {
            set.add(Element("after", xmlns: "http://jabber.org/protocol/rsm", text: cursor))
        } else if let since = state.since {
            query.add(Self.form(since: since))
        }
        query.add(set)
        try database.run("UPDATE catchup SET query_id = ? WHERE account = ?", [.text(queryID), account])
        try Requests(step: step).ask(.page, type: "set", query)
    }

    private static func form(since: Int64) -> Element {
        let stamp = Date(timeIntervalSince1970: Double(since / 1000)).formatted(.iso8601)
        return Element(
            "x", xmlns: "jabber:x:data", attributes: ["type": "submit"],
            children: [
                Element(
                    "field", attributes: ["var": "FORM_TYPE", "type": "hidden"],
                    children: [Element("value", text: "urn:xmpp:mam:2")]),
                Element("field", attributes: ["var": "start"], children: [Element("value", text: stamp)]),
            ])
    }

    /// Moves behind the archive's messages what came meanwhile and is not in a page, and what is still to be sent.
    private func settleOrder(_ state: State) throws {
        let rows = try database.statement(
            """
            SELECT id FROM (
                SELECT id, position FROM message WHERE id > ?1 AND account = ?2 AND catchup < ?3
                UNION ALL
                SELECT id, position FROM message WHERE id <= ?1 AND account = ?2 AND catchup < ?3
                    AND state IN ('queued', 'sent') AND settled = 1)
            ORDER BY position
            """
        ).all([.integer(state.base), account, .integer(state.number)]) { $0.integer(0) }
        for row in rows {
            try database.run(
                "UPDATE message SET position = ? WHERE id = ?", [.integer(try step.nextPosition()), .integer(row)])
        }
    }

    private func announcePresence() throws {
        try step.send(Element("presence", xmlns: "jabber:client"))
    }

    private func finish(problem: String?) throws {
        try database.run(
            "UPDATE catchup SET phase = 'done', query_id = NULL, problem = ? WHERE account = ?",
            [.optional(problem), account])
        step.emit(.caughtUp(problem: problem))
    }

    /// Where a new one begins: behind a stored message, and from which time on if the archive has lost that.
    private func anchor() throws -> (cursor: String?, since: Int64?) {
        let row = try database.prepare(
            """
            SELECT stanza_id, received_at FROM (SELECT stanza_id, received_at, id FROM message NOT INDEXED
                WHERE account = ? AND archive = '' AND stanza_id IS NOT NULL ORDER BY id DESC LIMIT ?)
            ORDER BY id LIMIT 1
            """
        ).first([account, .integer(Self.overlap + 1)]) { ($0.optionalText(0), $0.optionalInteger(1)) }
        let first = step.now - Self.firstLogin
        return (row?.0, min(first, (row?.1).map { $0 - Self.slack } ?? first))
    }

    private func state() throws -> State? {
        try database.statement(
            "SELECT number, phase, query_id, cursor, since, base, problem IS NOT NULL FROM catchup WHERE account = ?"
        ).first([account]) { row in
            State(
                number: row.integer(0), phase: Phase(rawValue: row.text(1)) ?? .done, queryID: row.optionalText(2),
                cursor: row.optionalText(3), since: row.optionalInteger(4), base: row.integer(5),
                hadProblem: row.bool(6))
        }
    }
}
