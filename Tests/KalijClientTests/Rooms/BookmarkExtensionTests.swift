import KalijAddress
import KalijXML
import Testing

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// The elements of a feature in the bookmarks of the account (XEP-0402 section 3).
struct BookmarkExtensionTests {
    /// Pins the room that its table names (XEP-0469).
    private enum Pins: BookmarkExtender {
        static let name = "org.example.pins"
        static let migrations = [
            Migration("org.example.pins/1", "CREATE TABLE org_example_pins(room, read, written, PRIMARY KEY (room))")
        ]
        static let pinned = "<pinned xmlns='urn:xmpp:bookmarks-pinning:0'/>"

        static func didReadBookmark(of room: JID, extensions: [Element]?, in step: Step) throws -> Bool {
            let text = extensions.map { $0.map { $0.xml() }.joined() }
            try step.database.run(
                "UPDATE org_example_pins SET read = ? WHERE room = ?", [.optional(text), .text(room.description)])
            return step.database.changes > 0 && text?.contains("pinned") != true
        }

        static func extendBookmark(of room: JID, extensions: inout [Element], in step: Step) throws {
            extensions.append(try Element.parse(pinned))
        }

        static func didWriteBookmark(of room: JID, in step: Step) throws {
            try step.database.run("UPDATE org_example_pins SET written = 1 WHERE room = ?", [.text(room.description)])
        }
    }

    private let harness: StepHarness
    private static let (orchard, garden) = ("orchard@muc.example.org", "garden@muc.example.org")

    init() throws {
        harness = try StepHarness(features: [Pins.self])
        try harness.bind()
        try harness.answerFeatures(archive: false)
        try harness.database.execute(
            """
            INSERT OR REPLACE INTO bookmarks(account, kind) VALUES (\(harness.account.id), 'native');
            INSERT INTO node(account, name, state) VALUES (\(harness.account.id), '\(Bookmark.native)', 'ready');
            INSERT INTO org_example_pins(room) VALUES ('\(Self.orchard)')
            """)
    }

    /// The list is requested if it is not yet, and read.
    private func list(_ items: String) throws {
        if try harness.waiting("rooms.bookmarks").isEmpty {
            _ = try harness.perform { try Bookmarks(step: $0).requestList() }
        }
        let id = try #require(try harness.waiting("rooms.bookmarks").last)
        try harness.receive(
            """
            <iq type='result' id='\(id)'><pubsub xmlns='http://jabber.org/protocol/pubsub'>\
            <items node='\(Bookmark.native)'>\(items)</items></pubsub></iq>
            """)
    }

    private func item(_ room: String, _ extensions: String) -> String {
        """
        <item id='\(room)'><conference xmlns='\(Bookmark.native)' name='Name' autojoin='false'><nick>jules</nick>\(extensions)\
        </conference></item>
        """
    }

    @Test("the change of a feature is written into the item that the list has, and nothing else changes; once")
    func written() throws {
        let other = "<extensions><other xmlns='urn:example:client'><deep>1</deep></other></extensions>"
        try list(item(Self.garden, other) + item(Self.orchard, other))
        #expect(try harness.text("SELECT read FROM org_example_pins")?.contains("urn:example:client") == true)
        let id = try #require(try harness.waiting("rooms.bookmarked").first)
        let publish = try harness.request(id).child("pubsub", "http://jabber.org/protocol/pubsub")?.child("publish")
        let pinned = other.replacing("</extensions>", with: Pins.pinned + "</extensions>")
        let written = try Element.parse(item(Self.orchard, pinned))
        #expect(publish?.child("item")?.children.first == written.children.first)
        #expect(try harness.waiting("rooms.bookmarked").count == 1)
        try harness.receive("<iq type='result' id='\(id)'/>")
        #expect(try harness.number("SELECT written FROM org_example_pins") == 1)
        try list(item(Self.orchard, pinned))
        #expect(try harness.waiting("rooms.bookmarked").isEmpty)
        try list("")
        #expect(try harness.text("SELECT read FROM org_example_pins") == nil, "the list does not have the room")
    }

    @Test("a refused write is not reported as written, and an oversized item is not overwritten")
    func refused() throws {
        try list(item(Self.orchard, ""))
        let id = try #require(try harness.waiting("rooms.bookmarked").first)
        try harness.receive(
            """
            <iq type='error' id='\(id)'><error type='auth'><forbidden xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></iq>
            """)
        #expect(try harness.number("SELECT written FROM org_example_pins") == nil)
        try list(item(Self.orchard, "<extensions>\(String(repeating: "x", count: 30_000))</extensions>"))
        #expect(try harness.waiting("rooms.bookmarked").isEmpty)
    }
}
