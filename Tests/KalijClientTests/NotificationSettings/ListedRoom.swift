import KalijAddress
import KalijStore
import KalijXML
import Testing

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// An account in the room of ``RoomHarness``, whose server keeps the list of rooms as items (XEP-0402).
struct ListedRoom {
    static let never = notify("<never/>")
    let room: RoomHarness
    var harness: StepHarness { room.harness }

    init() throws {
        room = try RoomHarness.joined(notifies: true)
        try harness.assumeAnswered(.bookmarks)
        try online()
    }

    static func notify(_ content: String) -> String { "<notify xmlns='\(NotifyElement.namespace)'>\(content)</notify>" }

    /// The list is in the node of the account, which is configured; presence was sent.
    func online() throws {
        try harness.database.execute(
            """
            UPDATE session SET available = 1;
            INSERT OR REPLACE INTO bookmarks(account, kind) VALUES (\(harness.account.id), 'native');
            INSERT OR REPLACE INTO node(account, name, state) VALUES (\(harness.account.id), '\(Bookmark.native)', 'ready')
            """)
    }

    // MARK: The user

    @discardableResult
    func choose(_ notify: String, for conversation: String = RoomHarness.room) throws -> Step.Effects {
        var change = ChangeSettings(for: try JID(conversation))
        change.notify = notify
        return try harness.runner.run("test", for: harness.account) {
            let outcome = try Intents(step: $0).perform(change, id: OutgoingID(nil).text)
            #expect(outcome == .done)
        }
    }

    func choice(for conversation: String = RoomHarness.room) throws -> NotifyChoice? {
        try StoredSettings(database: harness.database, account: harness.account.id).choice(for: conversation)
    }

    func state() throws -> String? {
        try harness.text("SELECT state FROM notification_setting WHERE conversation = '\(RoomHarness.room)'")
    }

    // MARK: The server

    var isAsked: Bool { get throws { try !harness.waiting(BookmarksResponse.name).isEmpty } }

    /// Another device has changed the list.
    @discardableResult
    func event(from sender: String = "juliet@example.org", _ extensions: String = never) throws -> Step.Effects {
        try harness.receive(
            """
            <message from='\(sender)' type='headline'><event xmlns='http://jabber.org/protocol/pubsub#event'>\
            <items node='\(Bookmark.native)'>\(Self.item(extensions))</items></event></message>
            """)
    }

    static func item(_ extensions: String, _ room: String = RoomHarness.room, autojoin: Bool = true) -> String {
        """
        <item id='\(room)'><conference xmlns='\(Bookmark.native)' name='Orchard' autojoin='\(autojoin)'><nick>juliet</nick>\
        <extensions>\(extensions)</extensions></conference></item>
        """
    }

    /// The answer to the request for the list, which is made if it was not yet.
    @discardableResult
    func list(_ extensions: String, others: String = "") throws -> Step.Effects {
        if try !isAsked { _ = try harness.perform { try Bookmarks(step: $0).requestList() } }
        let id = try #require(try harness.waiting(BookmarksResponse.name).last)
        return try harness.receive(
            """
            <iq type='result' id='\(id)'><pubsub xmlns='http://jabber.org/protocol/pubsub'>\
            <items node='\(Bookmark.native)'>\(Self.item(extensions))\(others)</items></pubsub></iq>
            """)
    }

    /// The extensions that are being written; nil if nothing is.
    func written() throws -> [Element]? {
        guard let id = try harness.waiting(BookmarkPublishResponse.name).last else { return nil }
        let publish = try harness.request(id).child("pubsub", "http://jabber.org/protocol/pubsub")?.child("publish")
        return publish?.child("item")?.child("conference", Bookmark.native)?.child("extensions")?.children
    }

    /// The answer to the write.
    func answer(_ content: String? = nil) throws {
        let id = try #require(try harness.waiting(BookmarkPublishResponse.name).last)
        let error = content.map {
            "<error type='wait'><\($0) xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error>"
        }
        try harness.receive("<iq type='\(error == nil ? "result" : "error")' id='\(id)'>\(error ?? "")</iq>")
    }
}

/// The elements of `<extensions/>`.
func extensions(_ content: String) throws -> [Element] {
    try Element.parse("<extensions xmlns='\(Bookmark.native)'>\(content)</extensions>").children
}
