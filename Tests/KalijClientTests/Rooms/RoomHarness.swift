import KalijAddress
import KalijXML
import Testing

@testable import KalijEngine
@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// An account that wants to be in the room orchard@muc.example.org, after catch-up.
struct RoomHarness {
    static let room = "orchard@muc.example.org"
    static let items = "http://jabber.org/protocol/disco#info"
    static let group = ["http://jabber.org/protocol/muc", "muc_membersonly", "muc_nonanonymous"]

    let harness: StepHarness

    /// - Parameter joining: whether the user has asked to enter.
    init(joining: Bool = true, notifies: Bool = false) throws {
        harness = try StepHarness(notifies: notifies)
        try harness.bind(answered: .all)
        try harness.answerFeatures(archive: true)
        for _ in 0..<2 { try harness.answerPage(complete: true) }
        try harness.fin("begin", first: "older", last: "older")
        try harness.assumeAnswered(.bookmarks, .displayed)
        try harness.acknowledgeAll()
        if joining { try perform(JoinRoom(try JID(Self.room))) }
    }

    /// In the room.
    static func joined(archive: Bool = true, features: [String] = group, notifies: Bool = false) throws -> RoomHarness {
        let harness = try RoomHarness(notifies: notifies)
        try harness.describe(features + (archive ? ["urn:xmpp:mam:2"] : []))
        try harness.enter()
        try harness.subject()
        if archive { try harness.readToEnd() }
        try harness.harness.acknowledgeAll()
        return harness
    }

    /// The user wants something.
    @discardableResult
    func perform(_ intent: some Intent, id: String = "intent") throws -> IntentOutcome {
        var outcome = IntentOutcome.pending
        _ = try harness.runner.run("test", for: harness.account) {
            outcome = try Intents(step: $0).perform(intent, id: id)
        }
        return outcome
    }

    func outcome(_ id: String = "intent") throws -> IntentOutcome? {
        try Intents.outcome(of: id, by: harness.account, in: harness.database)
    }

    var room: Room {
        get throws { try #require(try Rooms(harness.database).room(try JID(Self.room), of: harness.account)) }
    }

    // MARK: The room says

    func describe(_ features: [String]) throws {
        let id = try #require(try harness.waiting("rooms.described").last)
        let list = features.map { "<feature var='\($0)'/>" }.joined()
        try harness.receive(
            """
            <iq type='result' from='\(Self.room)' id='\(id)'><query xmlns='\(Self.items)'>\
            <identity category='conference' type='text' name='Orchard'/>\(list)</query></iq>
            """)
    }

    /// The list of members that was requested last: owners, admins, or members.
    func list(_ people: [String] = []) throws {
        let id = try #require(try harness.text("SELECT id FROM request WHERE name = 'rooms.members'"))
        let items = people.map { "<item affiliation='member' jid='\($0)'/>" }.joined()
        try harness.receive(
            """
            <iq type='result' from='\(Self.room)' id='\(id)'><query xmlns='http://jabber.org/protocol/muc#admin'>\
            \(items)</query></iq>
            """)
    }

    /// The newest question of a name is answered with an error.
    func refuse(_ name: String, _ condition: String, from sender: String = room, type: String = "cancel") throws {
        let id = try #require(try harness.waiting(name).last)
        try harness.receive(
            """
            <iq type='error' from='\(sender)' id='\(id)'><error type='\(type)'>\
            <\(condition) xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></iq>
            """)
    }

    @discardableResult
    func presence(
        _ nick: String, _ statuses: [Int] = [], type: String? = nil, jid: String? = nil, content: String = "",
        item attributes: String = ""
    ) throws -> Step.Effects {
        let type = type.map { " type='\($0)'" } ?? ""
        let jid = jid.map { " jid='\($0)'" } ?? ""
        return try harness.receive(
            """
            <presence from='\(Self.room)/\(nick)'\(type)><x xmlns='http://jabber.org/protocol/muc#user'>\
            <item affiliation='member' role='participant'\(jid)\(attributes)/>\
            \(statuses.map { "<status code='\($0)'/>" }.joined())\(content)</x></presence>
            """)
    }

    func enter(as nick: String = "juliet", _ statuses: [Int] = [110]) throws {
        try presence("romeo", jid: "romeo@example.net/orchard")
        try presence(nick, statuses, jid: "juliet@example.org/balcony")
    }

    @discardableResult
    func subject(_ text: String = "") throws -> Step.Effects {
        try harness.receive("<message from='\(Self.room)' type='groupchat'><subject>\(text)</subject></message>")
    }

    @discardableResult
    func pong() throws -> Step.Effects {
        let id = try #require(try harness.waiting("rooms.pinged").last)
        return try harness.receive("<iq type='result' from='\(Self.room)/juliet' id='\(id)'/>")
    }

    /// A message of an occupant's.
    @discardableResult
    func say(_ body: String, as nick: String = "romeo", id: String? = nil, stamp: String? = nil, delay: String = "")
        throws -> Step.Effects
    {
        try harness.receive(
            """
            <message from='\(Self.room)/\(nick)' type='groupchat' id='\(id ?? body)'><body>\(body)</body>\
            \(stamp.map { "<stanza-id xmlns='urn:xmpp:sid:0' by='\(Self.room)' id='\($0)'/>" } ?? "")\(delay)</message>
            """)
    }

    /// A message of an occupant's with any content.
    func message(_ content: String, as nick: String = "romeo", id: String, stamp: String) throws {
        try harness.receive(
            """
            <message from='\(Self.room)/\(nick)' type='groupchat' id='\(id)'>\(content)\
            <stanza-id xmlns='urn:xmpp:sid:0' by='\(Self.room)' id='\(stamp)'/></message>
            """)
    }

    /// An error in answer to the message accepted with the text `body`.
    @discardableResult
    func refuse(message body: String, _ condition: String, type: String = "modify") throws -> Step.Effects {
        try harness.receive(
            """
            <message type='error' from='\(Self.room)' id='\(try id(of: body))'><error type='\(type)'>\
            <\(condition) xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></message>
            """)
    }

    func id(of body: String) throws -> String {
        try #require(try harness.text("SELECT origin_id FROM message WHERE body = '\(body)' AND direction = 'out'"))
    }

    // MARK: The archive

    /// The archive is read to its end and has nothing but `messages`, by id and text; and nothing older.
    func readToEnd(_ messages: [(id: String, body: String)] = []) throws {
        for (id, body) in messages {
            let xml = "<message from='\(Self.room)/romeo' type='groupchat' id='\(body)'><body>\(body)</body></message>"
            try harness.receive(try harness.result(id, room: Self.room, xml: xml))
        }
        try harness.fin(
            "page", first: messages.first?.id, last: messages.last?.id, complete: true, from: Self.room)
        if let id = try harness.questions("filled").last {
            try harness.receive(
                """
                <iq type='result' id='\(id)' from='\(Self.room)'><fin xmlns='urn:xmpp:mam:2' complete='true'>\
                <set xmlns='http://jabber.org/protocol/rsm'/></fin></iq>
                """)
        }
    }

    /// Shows messages with any content in the reading of the archive, and ends the reading. The id of a stanza is `m` and
    /// the number in the archive's id.
    func showToEnd(_ messages: [(id: String, nick: String, content: String)]) throws {
        for (id, nick, content) in messages {
            let xml =
                "<message from='\(Self.room)/\(nick)' type='groupchat' id='m\(id.dropFirst())'>\(content)</message>"
            try harness.receive(try harness.result(id, room: Self.room, xml: xml))
        }
        try harness.fin("page", first: messages.first?.id, last: messages.last?.id, complete: true, from: Self.room)
    }

    // MARK: Time

    /// So many milliseconds pass, and what is due is done.
    func pass(_ milliseconds: Int64) throws {
        harness.clock.move(by: milliseconds)
        while try harness.steps.due() != nil {}
    }

    // MARK: The user says

    @discardableResult
    func accept(_ body: String) throws -> Message { try harness.accept(body, to: Self.room) }

    /// The texts in the queue to the room.
    func queued() throws -> [String] {
        try harness.queue().compactMap {
            $0.hasPrefix("message groupchat ") ? String($0.dropFirst("message groupchat ".count)) : nil
        }
    }

    /// Everything in the queue leaves, and the server has it.
    func send() throws {
        try harness.write()
        try harness.acknowledgeAll()
    }

    /// The session is lost, and a new session is in the room.
    func bindAnew(features: [String] = group + ["urn:xmpp:mam:2"]) throws {
        try enterAnew(features)
        try subject()
    }

    /// The session is lost, and a new session enters the room, which has not told its history and its subject yet.
    func enterAnew(_ features: [String]) throws {
        try harness.bind(resumeID: "session-2", answered: .all)
        try harness.answerFeatures(archive: true)
        for _ in 0..<2 { try harness.answerPage(complete: true) }
        try describe(features)
        try enter()
    }
}
