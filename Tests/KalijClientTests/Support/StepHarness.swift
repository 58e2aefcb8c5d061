import Foundation
import KalijAddress
import KalijCoordination
import KalijStore
import KalijStream
import KalijXML
import Synchronization
import TestSupport
import Testing

@testable import KalijEngine
@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// An account in a directory of its own, whose steps are run by hand: the test writes the server's stanzas as text, and
/// reads the engine's next actions from the database.
///
/// The account is juliet@example.org; the clock stands at 2026-11-21T12:00:00Z unless a test moves it.
final class StepHarness {
    static let noon: Int64 = 1_795_262_400_000

    let scratch: ScratchDirectory
    let directory: AccountDirectory
    let database: Database
    let fence: Fence
    let clock: FixedClock
    let account: Account
    let runner: StepRunner
    let steps: SessionSteps
    /// Whether the question for the displayed places of other devices stays in the queue; otherwise the question counts as answered.
    var asksDisplayed = false
    /// Whether the server tells its time.
    var tellsTime = true
    var queueSteps: QueueSteps { QueueSteps(runner: runner, account: account) }
    var logoutSteps: LogoutSteps { LogoutSteps(runner: runner, account: account) }

    /// - Parameter fast: how many milliseconds the clock is fast from the beginning.
    init(
        resource: String = "balcony", features: [any Feature.Type] = [], notifies: Bool = false, fast: Int64 = 0
    ) throws {
        scratch = try ScratchDirectory()
        directory = AccountDirectory(scratch.path)
        if features.isEmpty { try Self.migrated.get().write(to: URL(filePath: scratch.file("kalij.db"))) }
        clock = FixedClock(StepHarness.noon)
        clock.set(by: fast)
        let driven = try ManualDriver(
            directory, as: try JID("juliet@example.org"), resource: resource, applications: features,
            notifies: notifies,
            clock: clock.clock)
        (database, fence, account) = (driven.database, driven.fence, driven.account)
        (runner, steps) = (driven.runner, driven.steps)
    }

    /// The file of a database with all tables and no account: making the tables takes longer than most tests.
    private static let migrated = Result {
        let scratch = try ScratchDirectory()
        _ = try AccountDirectory(scratch.path).open(.process, role: .main, now: noon)
        return try Data(contentsOf: URL(filePath: scratch.file("kalij.db")))
    }

    /// A harness with a fresh session; the question for features waits in the queue.
    static func online(resumeID: String? = "session-1", tellsTime: Bool = true) throws -> StepHarness {
        let harness = try StepHarness()
        harness.tellsTime = tellsTime
        try harness.bind(resumeID: resumeID)
        return harness
    }

    /// A harness that has asked its archive for the first page.
    static func reading(tellsTime: Bool = true) throws -> StepHarness {
        let harness = try online(tellsTime: tellsTime)
        try harness.answerFeatures(archive: true)
        return harness
    }

    /// A harness after catch-up, with an empty archive.
    static func caughtUp() throws -> StepHarness {
        let harness = try reading()
        try harness.answerPage(complete: true)
        try harness.answerPage(complete: true)
        try harness.fin("begin", first: "older", last: "older")
        try harness.acknowledgeAll()
        return harness
    }

    /// The stream features of a server: its limit, and other elements.
    func offer(largestStanza: Int? = nil, _ elements: String = "") throws {
        let limits = largestStanza.map {
            "<limits xmlns='urn:xmpp:stream-limits:0'><max-bytes>\($0)</max-bytes></limits>"
        }
        let features = try Element.parse(
            "<features xmlns='http://etherx.jabber.org/streams'>\(limits ?? "")\(elements)</features>")
        try steps.note(try #require(StreamFeatures(features)))
    }

    /// - Parameters:
    ///   - askingServer: whether the question for the server's own features stays in the queue; otherwise the question counts as
    ///     answered long ago, by a server without features. The server's time is the clock's.
    ///   - askingRoster: whether the question for the roster stays; otherwise the roster is known to be empty, or unchanged.
    func bind(resumeID: String? = "session-1", askingServer: Bool = false, askingRoster: Bool = false) throws {
        _ = try steps.bound(try JID("juliet@example.org/balcony"))
        _ = try steps.established(resumeID: resumeID)
        try assumeAnswered(
            ["server-time.told"] + (askingServer ? [] : ["carbons.server"]) + (askingRoster ? [] : ["contacts.roster"]))
        if !askingRoster { try SessionRow.set(roster: .known, of: account.id, in: database) }
    }

    /// Questions of these names count as answered long ago.
    func assumeAnswered(_ names: [String]) throws {
        for name in names {
            try database.execute(
                """
                DELETE FROM queue WHERE request IN (SELECT id FROM request WHERE name = '\(name)');
                DELETE FROM request WHERE name = '\(name)';
                """)
        }
        try database.execute(
            """
            UPDATE server_time SET ahead = \(tellsTime ? "0" : "NULL"),
                since = (SELECT created_at FROM account WHERE id = account)
            """)
    }

    // MARK: From the server

    /// A stanza arrives and is counted.
    @discardableResult
    func receive(_ xml: String) throws -> Step.Effects {
        let count = try steps.load().handled.advanced()
        let effects = try steps.handle(try Element.parse(StepHarness.inClient(xml)), count: count)
        if !asksDisplayed, try number("SELECT count(*) FROM request WHERE name = 'notifications.displayed'") != 0 {
            try assumeAnswered(["notifications.displayed"])
        }
        return effects
    }

    /// The server has handled everything in the queue.
    func acknowledgeAll() throws {
        _ = try steps.acknowledged(
            try steps.load().acknowledged.advanced(
                by: UInt32(try countable())))
    }

    func answerFeatures(archive: Bool) throws {
        let id = try #require(try questions("features").last)
        let feature = archive ? "<feature var='urn:xmpp:mam:2'/>" : ""
        try receive(
            """
            <iq type='result' id='\(id)' from='juliet@example.org'><query xmlns='http://jabber.org/protocol/disco#info'>
            \(feature)</query></iq>
            """)
        try assumeAnswered(["rooms.bookmarks"])
    }

    /// A result of the open page with the message `xml`, archived as `id`.
    func archived(_ id: String, _ xml: String, at stamp: String = "2026-11-20T10:00:00Z") throws -> String {
        let query = try #require(try text("SELECT query_id FROM catchup WHERE archive = ''"))
        return """
            <message from='juliet@example.org'><result xmlns='urn:xmpp:mam:2' queryid='\(query)' id='\(id)'>\
            <forwarded xmlns='urn:xmpp:forward:0'><delay xmlns='urn:xmpp:delay' stamp='\(stamp)'/>\
            \(StepHarness.inClient(xml))</forwarded></result></message>
            """
    }

    /// The server tells its archive preferences (XEP-0441): `always`, `roster`, `never`; or nil: the server has no such
    /// preferences.
    @discardableResult
    func answerPreferences(_ policy: String?, always: [String] = [], never: [String] = []) throws -> Step.Effects {
        let id = try #require(try questions("preferences").last)
        func list(_ name: String, _ jids: [String]) -> String {
            "<\(name)>\(jids.map { "<jid>\($0)</jid>" }.joined())</\(name)>"
        }
        guard let policy else { return try refuse("preferences", "feature-not-implemented") }
        return try receive(
            """
            <iq type='result' id='\(id)'><prefs xmlns='urn:xmpp:mam:2' default='\(policy)'>\(list("always", always))\
            \(list("never", never))</prefs></iq>
            """)
    }

    /// The roster is known, and `contacts` have a subscription to the account's presence.
    func subscribe(_ contacts: String...) throws {
        let rows = RosterRows(database: database, account: account.id)
        for contact in contacts { try rows.store(Contact(.received(contact), subscription: .from)) }
    }

    @discardableResult
    func answerPage(last: String? = nil, complete: Bool = false) throws -> Step.Effects {
        let id = try #require(try questions("page").last)
        let set = last.map { "<set xmlns='http://jabber.org/protocol/rsm'><last>\($0)</last></set>" } ?? ""
        return try receive(
            """
            <iq type='result' id='\(id)'><fin xmlns='urn:xmpp:mam:2'\(complete ? " complete='true'" : "")>\(set)</fin></iq>
            """)
    }

    /// Two minutes pass, and all stanzas of the server have arrived.
    @discardableResult
    func letExpire() throws -> [String] {
        clock.move(by: 121_000)
        var told: [String] = []
        while let effects = try steps.expire(.all, until: clock.now) { told += effects.told }
        return told
    }

    // MARK: From the user

    @discardableResult
    func accept(_ body: String, to recipient: String = "romeo@example.net") throws -> Message {
        try OutgoingMessages.accept(body, to: try JID(recipient), of: account, in: database, clock: clock.clock)
    }

    /// A stanza as it arrives on a stream without stream management.
    static func arrival(_ stanza: String) throws -> InboundBatch {
        InboundBatch(stanzas: [try Element.parse(inClient(stanza))], count: nil)
    }

    /// The stanzas that a connection writes now: all entries after `id`.
    @discardableResult
    func write(after id: Int64 = 0) throws -> [OutboundQueue.Entry] {
        let entries = try OutboundQueue(database: database, account: account.id).entries(after: id, limit: 1000)
        _ = try queueSteps.transmitting(entries)
        return entries
    }

    // MARK: The database

    /// The shown messages in their order: `in hello`, `out hello (sent)`, with ` unsettled` after a message of unknown
    /// outcome.
    func history() throws -> [String] {
        try database.prepare("SELECT direction, body, state, settled FROM message WHERE shown = 1 ORDER BY position")
            .all { row in
                let state = row.optionalText("state").map { " (\($0))" } ?? ""
                return
                    "\(row.text("direction")) \(row.optionalText("body") ?? "-")\(state)\(row.bool("settled") ? "" : " unsettled")"
            }
    }

    /// The unacknowledged stanzas, oldest first: their names and differences.
    func queue() throws -> [String] {
        try OutboundQueue(database: database, account: account.id).entries(after: 0, limit: 1000).map { entry in
            let stanza = try Element.parse(entry.stanza)
            let body = stanza.children.first { $0.name == "body" }?.text
            let detail = body ?? stanza.children.first?.name ?? ""
            return stanza.name + (stanza["type"].map { " " + $0 } ?? "") + (detail.isEmpty ? "" : " " + detail)
        }
    }

    /// The ids of the requests that wait under the full name of a handler, oldest first.
    func waiting(_ name: String) throws -> [String] {
        try database.prepare(
            "SELECT r.id FROM request r JOIN queue q ON q.request = r.id WHERE r.name = ? ORDER BY q.id"
        )
        .all([.text(name)]) { $0.text() }
    }

    /// A request in the queue.
    func request(_ id: String) throws -> Element {
        let stanza = try database.prepare("SELECT stanza FROM queue WHERE request = ?").first([.text(id)]) {
            $0.blob()
        }
        return try Element.parse(StepHarness.inClient(String(decoding: try #require(stanza), as: UTF8.self)))
    }

    /// The open questions of a kind; those to `room` last.
    func questions(_ kind: String, to room: String? = nil) throws -> [String] {
        try database.prepare("SELECT id FROM request WHERE name = ?1 ORDER BY responder IS ?2, asked_at")
            .all([.text("catch-up." + kind), .optional(room)]) { $0.text() }
    }

    func text(_ sql: String) throws -> String? { try database.prepare(sql).first { $0.optionalText() } ?? nil }
    func number(_ sql: String) throws -> Int64? { try database.prepare(sql).first { $0.optionalInteger() } ?? nil }

    /// All stored data, as text, to show that nothing changed.
    func dump() throws -> [String] {
        try [
            "account", "session", "queue", "message", "request", "timer", "promise", "waiter", "dead_letter",
            "question", "server_time",
            "archive_range", "archive_preference", "archive_shown", "catchup", "filling", "contact", "roster",
            "presence", "subscription_request", "subscription_owed",
            "approval", "asker", "blocked", "blocklist", "profile", "profile_change",
            "quarantine", "attempt",
            "capability", "entity", "notification", "room", "occupant", "room_message", "room_member", "room_plan",
            "invitation", "bookmark", "push",
        ].flatMap { table in
            let columns = try database.prepare("SELECT name FROM pragma_table_info('\(table)')").all { $0.text() }
            let row = columns.map { "quote(\($0))" }.joined(separator: "||' '||")
            return try database.prepare("SELECT \(row) FROM \(table)").all { "\(table): \($0.text())" }
        }
    }

    /// Stanzas on a stream are in the client's namespace.
    static func inClient(_ xml: String) -> String {
        guard let end = xml.firstIndex(where: { $0 == " " || $0 == ">" || $0 == "/" }) else { return xml }
        return xml[..<end] + " xmlns='jabber:client'" + xml[end...]
    }
}

/// A clock that stands still until time passes, or until it is set.
final class FixedClock: Sendable {
    /// How much time has passed, and the error of the clock.
    private let time: Mutex<(passed: Int64, wrong: Int64)>

    init(_ milliseconds: Int64) { time = Mutex((milliseconds, 0)) }

    var now: Int64 { time.withLock { $0.passed + $0.wrong } }
    private var passed: Int64 { time.withLock { $0.passed } }
    /// Time passes.
    func move(by milliseconds: Int64) { time.withLock { $0.passed += milliseconds } }
    /// The clock is set, forward or back.
    func set(by milliseconds: Int64) { time.withLock { $0.wrong += milliseconds } }
    var clock: Clock {
        Clock(now: { self.now }, monotonic: { self.passed * 1_000_000 }, sinceBoot: { self.passed - StepHarness.noon })
    }
}

extension Step.Effects {
    /// The events for the application, in short.
    var told: [String] {
        events.filter { !($0.content is UnreadChanged) }.map { event in
            switch event.content {
            case let event as MessageStored: "message \(event.message.body ?? "-")"
            case let event as MessageStateChanged:
                "\(event.message.body ?? "-") is \(event.message.state?.rawValue ?? "-")"
            case let event as MessageUnsettled: "\(event.message.body ?? "-") is unsettled"
            case let event as CaughtUp: event.problem.map { "caught up: \($0)" } ?? "caught up"
            case let event as RoomRead: "room \(event.room)" + (event.problem.map { ": \($0)" } ?? "")
            case let event as HistoryFilled: "filled \(event.messages)" + (event.problem.map { ": \($0)" } ?? "")
            case let event as Quarantined: "quarantined: \(event.reason)"
            case let event as HandlerDeadLettered: "dead letter \(event.letter.name): \(event.letter.reason)"
            case let event as SlowStep: "slow step: \(event.step)"
            default: "\(event.content)"
            }
        }
    }
}

extension StepHarness {
    /// How many stanzas the server can have counted: all entries of the queue, or, while messages are held, all except
    /// messages.
    private func countable() throws -> Int64 {
        try number(
            """
            SELECT count(*) FROM queue q JOIN session s ON s.account = q.account
            WHERE q.message IS NULL OR NOT s.holding
            """) ?? 0
    }
}

extension SessionSteps {
    /// How many stanzas wait to be acknowledged or sent.
    func queued() throws -> Int {
        Int(
            try runner.database.statement("SELECT count(*) FROM queue WHERE account = ?")
                .first([.integer(account.id)]) { $0.integer() } ?? 0)
    }
}
