import Foundation
import KalijAddress
import KalijCoordination
import KalijStore
import KalijStream
import KalijTestSupport
import KalijXML
import TestSupport
import Testing

@testable import KalijEngine
@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// The account without a network, as the tests of this target use it: they write the server's stanzas as text, and read the
/// engine's next actions from the database.
///
/// The account is juliet@example.org; the clock stands at 2026-11-21T12:00:00Z unless a test moves it.
typealias StepHarness = DrivenAccount

/// A question that a session begins with.
enum OpeningQuestion: String, CaseIterable {
    case time = "server-time.told"
    case features = "carbons.server"
    case roster = "contacts.roster"
    case bookmarks = "rooms.bookmarks"
    case displayed = "notifications.displayed"
}

extension Set<OpeningQuestion> {
    static let all = Set(OpeningQuestion.allCases)

    static func all(but open: OpeningQuestion...) -> Self { all.subtracting(open) }
}

extension StepHarness {
    static let noon: Int64 = 1_795_262_400_000

    var queueSteps: QueueSteps { QueueSteps(runner: runner, account: account) }
    var logoutSteps: LogoutSteps { LogoutSteps(runner: runner, account: account) }

    /// - Parameter fast: how many milliseconds the clock is fast from the beginning.
    convenience init(features: [any Feature.Type] = [], notifies: Bool = false, fast: Int64 = 0) throws {
        let folder = try TestFolder(at: ScratchDirectory.freshPath())
        if features.isEmpty { try Self.migrated.get().write(to: URL(filePath: folder.path + "/kalij.db")) }
        let clock = TestTime(Self.noon)
        clock.set(by: fast)
        try self.init(
            in: folder, as: JID("juliet@example.org"), resource: "balcony", applications: features, notifies: notifies,
            clock: clock)
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
        try harness.bind(resumeID: resumeID, answered: .all)
        if !tellsTime { try harness.database.execute("UPDATE server_time SET ahead = NULL") }
        return harness
    }

    /// A harness that has asked its archive for the first page.
    static func reading(tellsTime: Bool = true) throws -> StepHarness {
        let harness = try online(tellsTime: tellsTime)
        try harness.answerFeatures(archive: true)
        try harness.assumeAnswered(.bookmarks)
        return harness
    }

    /// A harness after catch-up, with an empty archive.
    static func caughtUp() throws -> StepHarness {
        let harness = try reading()
        try harness.answerPage(complete: true)
        try harness.answerPage(complete: true)
        try harness.fin("begin", first: "older", last: "older")
        try harness.assumeAnswered(.bookmarks, .displayed)
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
        try steps.record(try #require(StreamFeatures(features)))
    }

    /// A new session, of whose first questions the server has answered some long ago.
    func bind(resumeID: String? = "session-1", answered questions: Set<OpeningQuestion>) throws {
        try bind(resumeID: resumeID)
        for question in questions { try assumeAnswered(question) }
    }

    /// The server has answered questions long ago: its clock is right, it has no features, and knows no contacts, bookmarks and
    /// displayed places, or none since the last session.
    func assumeAnswered(_ questions: OpeningQuestion...) throws {
        for question in questions {
            try removeRequests(question.rawValue)
            switch question {
            case .time:
                try database.execute(
                    """
                    UPDATE server_time SET ahead = 0, since = (SELECT created_at FROM account WHERE id = account)
                    WHERE since IS NULL
                    """)
            case .roster: try SessionRow.set(roster: .known, of: account.id, in: database)
            case .features, .bookmarks, .displayed: break
            }
        }
    }

    /// Removes the requests of a handler, sent or not.
    func removeRequests(_ handler: String) throws {
        try database.execute(
            """
            DELETE FROM queue WHERE request IN (SELECT id FROM request WHERE name = '\(handler)');
            DELETE FROM request WHERE name = '\(handler)';
            """)
    }

    // MARK: From the server

    /// A stanza arrives and is counted.
    @discardableResult
    func receive(_ xml: String) throws -> Step.Effects { try receive(Element.parse(Self.inClient(xml))) }

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
    }

    /// A result of the open page with the message `xml`, archived as `id`.
    func archived(_ id: String, _ xml: String, at stamp: String = "2026-11-20T10:00:00Z") throws -> String {
        try result(id, at: stamp, xml: xml)
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
        try fin("page", last: last, complete: complete)
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
        return try Self.element(#require(stanza))
    }

    /// The open questions of a kind; those to `room` last.
    func questions(_ kind: String, to room: String? = nil) throws -> [String] {
        try database.prepare("SELECT id FROM request WHERE name = ?1 ORDER BY responder IS ?2, asked_at")
            .all([.text("catch-up." + kind), .optional(room)]) { $0.text() }
    }

    func text(_ sql: String) throws -> String? { try database.prepare(sql).first { $0.optionalText() } ?? nil }
    func number(_ sql: String) throws -> Int64? { try database.prepare(sql).first { $0.optionalInteger() } ?? nil }
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
