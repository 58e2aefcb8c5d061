import KalijAddress
import KalijStore
import KalijStream
import KalijXML

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Reads the account's archive (XEP-0313) from where it was read to its end.
///
/// Only a page moves the cursor, never a message that is delivered live: what came live since is read once more, which
/// gives each message its place in the archive's order and finds what was archived and never delivered. That is done
/// - after a bind: once before presence is announced, so that what was missed is stored before anything live, and once
///   more afterwards, for what was archived in between;
/// - after a resume, because a server may drop what it had not sent (measured: ejabberd 23.01, when connections follow
///   one another faster than it takes them over);
/// - now and then in a long session, so that there is never much to read again.
/// A session lost in the middle goes on at the cursor.
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
        /// The order number of the last message that this round has shown.
        let placed: Int64
        /// The order number behind which this round has found something that was not there.
        let changedBehind: Int64?
    }

    /// How long an answer may take that presence and held messages wait for.
    static let patience = Duration.seconds(120)
    /// How far an account's first login looks back, in milliseconds.
    private static let firstLogin: Int64 = 14 * 24 * 3600 * 1000
    /// How far before the time at which the archive was read to its end it is read if it has lost the cursor.
    private static let slack: Int64 = 24 * 3600 * 1000
    /// How many messages of the last round are read again.
    private static let overlap: Int64 = 20

    /// Begins after a bind; `hasArchive` says whether there is something to read.
    func begin(hasArchive: Bool) throws {
        try newRound(.beforePresence)
        if hasArchive {
            try askPage()
        } else {
            try announcePresence()
            try finish(problem: "the server has no archive")
        }
    }

    /// Goes on after a resume: asks again for what was asked and not answered, or reads what came since the last end.
    func resume(hasArchive: Bool) throws {
        let isAsking = try Requests(step: step).isWaiting([FeaturesKnown.name])
        try forgetQuestions()
        guard try state() != nil, !isAsking else { return try ArchiveFeature(step: step).ask() }
        guard hasArchive else { return }
        if try state()?.phase == .done { try newRound(.afterPresence) }
        try askPage()
    }

    /// Forgets what was asked at the begin of a connection, to be asked anew: an answer may have been dropped with the one
    /// before. Questions that the server has not counted are not sent again.
    func forgetQuestions() throws {
        for name in Self.questions { try Requests(step: step).forget(name, unqueueing: true) }
    }

    /// Reads what came since the last end, in a session that lasts; or tries again what the archive could not do.
    func again() throws {
        guard let state = try state(), try !Requests(step: step).isWaiting(Self.questions) else { return }
        if state.phase == .done { try newRound(.afterPresence) }
        try askPage()
    }

    /// The server does not answer: presence and the messages that wait do not wait for ever. The cursor stays.
    func unanswered(_ problem: String = "the server does not answer") throws {
        step.tryArchiveAgain()
        guard let state = try state(), state.phase != .done else { return }
        try completed(state, problem: problem)
    }

    /// The server does not even say what it can do.
    func featuresUnknown(_ problem: String = "the server does not answer") throws {
        try newRound(.beforePresence)
        try unanswered(problem)
    }

    private func newRound(_ phase: Phase) throws {
        let anchor = try anchor()
        try database.run(
            """
            INSERT INTO catchup(account, number, phase, since, placed) VALUES (?1, 1, ?2, ?3, ?5)
            ON CONFLICT (account) DO UPDATE SET number = number + 1, phase = excluded.phase, query_id = NULL,
                cursor = coalesce(?4, cursor), placed = excluded.placed, changed_behind = NULL, problem = NULL
            """,
            [
                account, .text(phase.rawValue), .integer(step.now - Self.firstLogin), .optional(anchor?.id),
                .integer(anchor?.position ?? 0),
            ])
    }

    /// A message a few before the newest one that a page has shown. A new round begins behind it, not at the cursor:
    /// some servers write messages into the archive a little later than others whose place is behind theirs (measured:
    /// ejabberd 23.01).
    private func anchor() throws -> (id: String?, position: Int64)? {
        try database.statement(
            """
            SELECT stanza_id, position FROM (SELECT id, stanza_id, position FROM message NOT INDEXED
                WHERE account = ? AND archive = '' AND stanza_id IS NOT NULL AND catchup > 0 ORDER BY id DESC LIMIT ?)
            ORDER BY id LIMIT 1
            """
        ).first([account, .integer(Self.overlap)]) { ($0.optionalText(0), $0.integer(1)) }
    }

    /// A `<result/>` of the page that is being read; anything else that claims to be one is dropped.
    func result(_ result: Element, in message: Element) throws {
        guard let state = try state(), let id = result["id"], !id.isEmpty, let queryID = state.queryID,
            result["queryid"] == queryID, state.phase != .done,
            message["from"].map({ JID.received($0) == step.account.jid }) ?? true,
            let forwarded = result.child("forwarded", "urn:xmpp:forward:0"),
            let archived = forwarded.child("message", "jabber:client")
        else { return }
        let place = try Messages(step: step).receive(
            archived, archiveID: id, at: Received.delay(in: forwarded), catchup: state.number, behind: state.placed)
        guard let place else { return }
        try database.run(
            "UPDATE catchup SET placed = ?, changed_behind = coalesce(changed_behind, ?) WHERE account = ?",
            [.integer(place.position), place.isMoved ? .integer(state.placed) : .null, account])
    }

    /// The answer to the question `queryID` for a page: it moves the cursor.
    func page(_ iq: Element, of queryID: String) throws {
        guard let state = try state(), state.phase != .done, state.queryID == queryID else { return }
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
        let reason = "the server's archive refused: \(error?.description ?? "no reason given")"
        if error?.kind == .wait {
            if state.phase == .beforePresence { try announcePresence() }
            try database.run(
                "UPDATE catchup SET phase = 'after-presence', query_id = NULL, problem = ? WHERE account = ?",
                [.text(reason), account])
            step.emit(.caughtUp(problem: reason))
            // A lost session's messages wait: only the archive can tell about them.
            if try queue.holding() == .resumed { try release(problem: reason) }
            return step.tryArchiveAgain()
        }
        if error?.condition == .itemNotFound, state.cursor != nil {
            // The archive has lost the message that we stopped at (XEP-0313 4.3): go by time.
            try database.run("UPDATE catchup SET cursor = NULL WHERE account = ?", [account])
            return try askPage()
        }
        try completed(state, problem: reason)
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
        // One question at a time: an answer to another round would move the cursor over what was not stored.
        try Requests(step: step).forget(PageRead.name)
        try database.run("UPDATE catchup SET query_id = ? WHERE account = ?", [.text(queryID), account])
        try step.send(.request(.set, query), then: PageRead(query: queryID), within: Self.patience)
    }

    private static func form(since: Int64) -> Element {
        let start = DataForm.Field("start", value: Date(timeIntervalSince1970: Double(since / 1000)))
        return DataForm(.submit, formType: "urn:xmpp:mam:2", fields: [start]).element
    }

    /// Moves what the archive has not shown behind what it has, from the first change on: what came meanwhile, what is
    /// still to be sent, what is not archived. Where nothing changed everything stays in its place.
    private func settleOrder(_ state: State) throws {
        guard let changed = state.changedBehind else { return }
        let rows = try database.statement(
            """
            SELECT id FROM message INDEXED BY message_order WHERE account = ? AND position > ? AND catchup < ?
            ORDER BY position
            """
        ).all([account, .integer(changed), .integer(state.number)]) { $0.integer(0) }
        for row in rows {
            try database.run(
                "UPDATE message SET position = ? WHERE id = ?", [.integer(try step.nextPosition()), .integer(row)])
        }
    }

    private func announcePresence() throws {
        try step.send(Element("presence", xmlns: "jabber:client", children: OwnCapabilities().elements))
    }

    private func finish(problem: String?) throws {
        try database.run(
            """
            UPDATE catchup SET phase = 'done', query_id = NULL, problem = ?1,
                since = CASE WHEN ?1 IS NULL THEN ?2 ELSE since END
            WHERE account = ?3
            """, [.optional(problem), .integer(step.now - Self.slack), account])
        step.emit(.caughtUp(problem: problem))
        try release(problem: problem)
    }

    private var queue: OutboundQueue { OutboundQueue(database: database, account: step.account.id) }

    /// Messages that waited for the archive leave, unless it has shown that they arrived.
    private func release(problem: String?) throws {
        if problem != nil, try queue.holding() == .bound { try Unsettled(step: step).reportAll() }
        if try queue.release() { step.flush() }
    }

    private func state() throws -> State? {
        try database.statement(
            "SELECT number, phase, query_id, cursor, since, placed, changed_behind FROM catchup WHERE account = ?"
        ).first([account]) { row in
            State(
                number: row.integer(0), phase: Phase(rawValue: row.text(1)) ?? .done, queryID: row.optionalText(2),
                cursor: row.optionalText(3), since: row.optionalInteger(4), placed: row.integer(5),
                changedBehind: row.optionalInteger(6))
        }
    }
}
