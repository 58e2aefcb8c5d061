import KalijAddress
import KalijStore
import KalijXML
import Testing

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// An account whose user reads.
struct ReadingHarness {
    static let romeo = "romeo@example.net"
    static let noon = "2026-11-21T13:00:00Z"

    let harness: StepHarness

    /// - Parameter caughtUp: whether the archive was read already.
    init(caughtUp: Bool = true, notifies: Bool = false) throws {
        harness = try StepHarness(notifies: notifies)
        try harness.bind(answered: .all)
        try harness.answerFeatures(archive: true)
        try harness.database.run("UPDATE session SET stamps = 1")
        guard caughtUp else { return }
        try harness.answerPage(complete: true)
        try harness.answerPage(complete: true)
        try harness.fin("begin", first: "older", last: "older")
        try answerItems([])
        try harness.acknowledgeAll()
        try harness.subscribe(Self.romeo)
    }

    // MARK: Stanzas

    /// A message of the contact's.
    static func message(
        _ id: String, from contact: String = romeo, markable: Bool = true, type: String = "chat", stamped: Bool = true
    ) -> String {
        """
        <message from='\(contact)/orchard' to='juliet@example.org' type='\(type)' id='\(id)'><body>\(id)</body>\
        \(markable ? "<markable xmlns='urn:xmpp:chat-markers:0'/>" : "")\
        \(stamped ? "<stanza-id xmlns='urn:xmpp:sid:0' by='juliet@example.org' id='archived-\(id)'/>" : "")</message>
        """
    }

    /// A message of another client of the account.
    static func own(_ id: String, to contact: String = romeo) -> String {
        """
        <message from='juliet@example.org/phone' to='\(contact)' type='chat' id='\(id)'><body>\(id)</body></message>
        """
    }

    static func retraction(of id: String, from sender: String) -> String {
        let recipient = sender.hasPrefix("juliet") ? romeo : "juliet@example.org"
        return """
            <message from='\(sender)' to='\(recipient)' type='chat' id='retraction-\(id)'>\
            <retract xmlns='urn:xmpp:message-retract:1' id='\(id)'/></message>
            """
    }

    static func marker(
        for id: String, from sender: String = romeo + "/orchard", to recipient: String = "juliet@example.org",
        type: String = "chat"
    ) -> String {
        """
        <message from='\(sender)' to='\(recipient)' type='\(type)' id='marker-\(id)'>\
        <displayed xmlns='urn:xmpp:chat-markers:0' id='\(id)'/></message>
        """
    }

    /// A marker of another client of the account.
    static func ownMarker(for id: String, to contact: String = romeo) -> String {
        marker(for: id, from: "juliet@example.org/phone", to: contact)
    }

    /// A copy of a message of another client of the account.
    static func carbon(_ xml: String, kind: String = "sent", from: String = "juliet@example.org") -> String {
        """
        <message from='\(from)'><\(kind) xmlns='urn:xmpp:carbons:2'><forwarded xmlns='urn:xmpp:forward:0'>\
        \(StepHarness.inClient(xml))</forwarded></\(kind)></message>
        """
    }

    static func item(_ id: String, chat: String = romeo, by: String = "juliet@example.org") -> String {
        """
        <item id='\(chat)'><displayed xmlns='urn:xmpp:mds:displayed:0'>\
        <stanza-id xmlns='urn:xmpp:sid:0' by='\(by)' id='archived-\(id)'/></displayed></item>
        """
    }

    static func event(_ items: String, from: String = "juliet@example.org") -> String {
        """
        <message from='\(from)' to='juliet@example.org/balcony' type='headline'>\
        <event xmlns='http://jabber.org/protocol/pubsub#event'><items node='urn:xmpp:mds:displayed:0'>\(items)</items>\
        </event></message>
        """
    }

    func answerItems(_ items: [String]) throws {
        let id = try #require(try harness.waiting(DisplayedNodeResponse.name).last)
        try harness.receive(
            """
            <iq type='result' id='\(id)'><pubsub xmlns='http://jabber.org/protocol/pubsub'>\
            <items node='urn:xmpp:mds:displayed:0'>\(items.joined())</items></pubsub></iq>
            """)
    }

    /// The server answers the newest request of a handler.
    func answer(_ handler: String, error: String? = nil) throws {
        let id = try #require(try harness.waiting(handler).last)
        let content = error.map {
            "<error type='cancel'><\($0) xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error>"
        }
        try harness.receive("<iq type='\(error == nil ? "result" : "error")' id='\(id)'>\(content ?? "")</iq>")
    }

    // MARK: The user

    @discardableResult
    func read(_ contact: String = romeo, through id: String? = nil) throws -> IntentOutcome {
        let intent = MarkRead(try JID(contact), through: id.map { .id($0) })
        return try harness.perform { try Intents(step: $0).perform(intent, id: OutgoingID(nil).text) }
    }

    // MARK: What is so

    func unread(_ contact: String = romeo) throws -> Int {
        try DisplayedPlaces.unread(in: contact, of: harness.account.id, in: harness.database)
    }

    /// The ids of the messages for which markers were queued, with their recipients.
    func markers() throws -> [String] {
        try harness.write().map { try Element.parse($0.stanza) }.compactMap { stanza in
            stanza.child("displayed", "urn:xmpp:chat-markers:0")?["id"].map { "\(stanza["to"] ?? "-") \($0)" }
        }
    }

    /// The items in the queue: `conversation id`.
    func published() throws -> [String] {
        try harness.write().map { try Element.parse($0.stanza) }.compactMap { stanza in
            let item = stanza.child("pubsub", "http://jabber.org/protocol/pubsub")?.child("publish")?.child("item")
            let stamp = item?.child("displayed", "urn:xmpp:mds:displayed:0")?.child("stanza-id", "urn:xmpp:sid:0")
            guard let conversation = item?["id"], let id = stamp?["id"], stamp?["by"] != nil else { return nil }
            return "\(conversation) \(id)"
        }
    }

    /// The shown messages and their states.
    func shown(with contact: String = romeo) throws -> [String] {
        try HistoryReader(harness.database).messages(of: harness.account, with: try JID(contact), limit: 100).map {
            "\($0.body ?? "-") \($0.state?.rawValue ?? "in")"
        }
    }
}
