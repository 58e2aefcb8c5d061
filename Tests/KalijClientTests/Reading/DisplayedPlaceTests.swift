import KalijAddress
import KalijStore
import KalijXML
import Testing

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// The displayed place of a conversation, and what is unread.
struct DisplayedPlaceTests {
    private typealias R = ReadingHarness

    @Test("messages of others are unread until the user reads them; own messages are neutral")
    func counts() throws {
        let r = try R()
        #expect(try r.unread() == 0)
        try r.harness.receive(R.message("one"))
        let effects = try r.harness.receive(R.message("two"))
        let told = effects.events.compactMap { $0.content as? UnreadChanged }
        #expect(told.map(\.count) == [2] && told.map(\.conversation) == [R.romeo])
        #expect(try r.unread() == 2)
        try r.harness.accept("mine")
        #expect(try r.unread() == 2, "XEP-0490 section 5.1: outgoing messages are neutral")
        try r.harness.receive(R.message("three"))
        try r.read(through: "one")
        #expect(try r.unread() == 2)
        try r.read()
        #expect(try r.unread() == 0)
        try r.read(through: "one")
        #expect(try r.unread() == 0, "the place only moves forward")
    }

    @Test("each emitted number is what counting finds, whatever happened before")
    func emitted() throws {
        let r = try R()
        func check(_ effects: Step.Effects, _ place: SourceLocation = #_sourceLocation) throws {
            let last = effects.events.compactMap { ($0.content as? UnreadChanged)?.count }.last
            #expect(try last == r.unread(), sourceLocation: place)
        }
        for id in ["one", "two", "three"] { try check(r.harness.receive(R.message(id))) }
        try r.read(through: "two")
        for id in ["four", "five"] { try check(r.harness.receive(R.message(id))) }
        try r.harness.perform { _ = try Intents(step: $0).perform(Forget(.id("four")), id: "f") }
        try check(r.harness.receive(R.message("six")))
        try r.harness.receive(R.carbon(R.ownMarker(for: "five")))
        try check(r.harness.receive(R.message("seven")))
        #expect(throws: StoreError.self) {
            _ = try r.harness.runner.run("undone", for: r.harness.account) { step in
                try Dispatcher.handle(
                    InboundBatch(stanzas: [Element.parse(StepHarness.inClient(R.message("eight")))], count: nil),
                    in: step)
                try step.finish()
                try step.close()
                throw StoreError(.other, "undone")
            }
        }
        try check(r.harness.receive(R.message("nine")))
        try r.harness.receive(R.retraction(of: "nine", from: "romeo@example.net/orchard"))
        try check(r.harness.receive(R.message("ten")))
        #expect(try r.unread() == 3)
    }

    @Test("a retracted or forgotten message is not unread, and the new number is told")
    func erased() throws {
        let r = try R()
        for id in ["one", "two", "three"] { try r.harness.receive(R.message(id)) }
        let effects = try r.harness.receive(
            """
            <message from='romeo@example.net/orchard' to='juliet@example.org' type='chat' id='r'>\
            <retract xmlns='urn:xmpp:message-retract:1' id='one'/><store xmlns='urn:xmpp:hints'/></message>
            """)
        #expect(effects.events.compactMap { ($0.content as? UnreadChanged)?.count } == [2])
        #expect(try r.unread() == 2)
        try r.harness.perform { _ = try Intents(step: $0).perform(Forget(.id("two")), id: "f") }
        #expect(try r.unread() == 1)
    }

    @Test("what is from before the account was here counts as read; also older history, fetched later")
    func firstLogin() throws {
        let r = try R(caughtUp: false)
        try r.harness.receive(try r.harness.archived("1", R.message("old", stamped: false)))
        try r.harness.receive(
            try r.harness.archived("2", R.message("new", stamped: false), at: R.noon))
        #expect(try r.unread() == 1)
        #expect(try r.shown() == ["old in", "new in"])
        try r.read()
        #expect(try r.unread() == 0)
    }

    @Test("another device has read: its marker arrives as a copy, or from the archive; only forward")
    func elsewhere() throws {
        let r = try R(notifies: true)
        for id in ["one", "two", "three"] { try r.harness.receive(R.message(id)) }
        try r.harness.receive(R.carbon(R.ownMarker(for: "two")))
        #expect(try r.unread() == 1)
        #expect(try r.harness.number("SELECT count(*) FROM notification") == 1, "the others are withdrawn")
        try r.harness.receive(R.carbon(R.ownMarker(for: "one")))
        #expect(try r.unread() == 1)
        try r.harness.receive(R.carbon(R.ownMarker(for: "three")))
        #expect(try r.unread() == 0)
        #expect(try r.harness.number("SELECT count(*) FROM notification") == 0)
    }

    @Test(
        "a marker moves nothing if somebody else sends it, or as a copy from somebody else, or in a room, or for an own message"
    )
    func forged() throws {
        let r = try R()
        try r.harness.receive(R.message("one"))
        try r.harness.receive(R.message("nurse", from: "nurse@example.net"))
        try r.harness.receive(R.marker(for: "one"))
        try r.harness.receive(R.marker(for: "one", from: "tybalt@example.com/x"))
        try r.harness.receive(R.carbon(R.ownMarker(for: "one"), from: "tybalt@example.com"))
        try r.harness.receive(R.carbon(R.ownMarker(for: "one", to: "nurse@example.net")))
        try r.harness.receive(R.carbon(R.ownMarker(for: "one").replacing("type='chat'", with: "type='groupchat'")))
        #expect(try r.unread() == 1)
        #expect(try r.unread("nurse@example.net") == 1)
        #expect(try r.harness.number("SELECT count(*) FROM message WHERE shown = 0") == 0)
    }

    @Test("a marker or an item before its message: counts as soon as the message comes", arguments: [true, false])
    func early(byMarker: Bool) throws {
        let r = try R(notifies: true)
        try r.harness.receive(
            byMarker ? R.carbon(R.ownMarker(for: "two")) : R.event(R.item("two")))
        try r.harness.receive(R.message("one"))
        #expect(try r.unread() == 1)
        try r.harness.receive(R.message("two"))
        #expect(try r.unread() == 0)
        #expect(try r.harness.number("SELECT count(*) FROM early_displayed") == 0)
        try r.harness.receive(R.message("three"))
        #expect(try r.unread() == 1)
        #expect(try r.harness.number("SELECT count(*) FROM notification") == 1, "for the third message alone")
    }

    @Test("a name of nothing is forgotten once the archive was read to its end; a name in the gap counts")
    func gap() throws {
        let r = try R(caughtUp: false)
        try r.harness.receive(R.event(R.item("a") + R.item("nothing", chat: "nurse@example.net")))
        #expect(try r.harness.number("SELECT count(*) FROM early_displayed") == 2)
        for id in ["a", "b"] {
            try r.harness.receive(
                try r.harness.archived("archived-\(id)", R.message(id, stamped: false), at: R.noon))
        }
        #expect(try r.unread() == 2, "the order of the messages is known at the end of the reading")
        try r.harness.answerPage(last: "archived-b", complete: true)
        try r.harness.answerPage(complete: true)
        #expect(try r.harness.number("SELECT count(*) FROM early_displayed") == 0)
        #expect(try r.unread() == 1)
    }

    @Test("a marker for a message missed before a live message: the live message is not withdrawn")
    func misplaced() throws {
        let r = try R(caughtUp: false, notifies: true)
        try r.harness.receive(R.carbon(R.ownMarker(for: "missed")))
        try r.harness.receive(R.message("live"))
        for id in ["missed", "live"] {
            try r.harness.receive(
                try r.harness.archived("archived-\(id)", R.message(id, stamped: false), at: R.noon))
        }
        for _ in 0..<2 { try r.harness.answerPage(last: "archived-live", complete: true) }
        #expect(try r.shown() == ["missed in", "live in"])
        #expect(try r.unread() == 1)
        #expect(try r.harness.number("SELECT count(*) FROM notification WHERE kind = 'show'") == 1)
    }

    @Test("while the archive moves messages, places only move forward: no message gets a marker after a later one")
    func moving() throws {
        let r = try R()
        for id in ["a", "b", "c"] { try r.harness.receive(R.message(id)) }
        try r.read(through: "b")
        // The next session's reading finds a message before these, and moves what it shows: "b" and "c" are not shown yet.
        try r.harness.bind(answered: .all)
        try r.harness.answerFeatures(archive: true)
        for id in ["missed", "a"] {
            try r.harness.receive(
                try r.harness.archived("archived-\(id)", R.message(id, stamped: false), at: R.noon))
        }
        #expect(try r.shown() == ["b in", "c in", "missed in", "a in"])
        #expect(try r.unread() == 1, "what the reading has shown comes before the displayed message")
        #expect(try r.read(through: "a") == .done)
        try r.harness.receive(R.carbon(R.ownMarker(for: "a")))
        try r.read(through: "c")
        #expect(try r.markers() == ["\(R.romeo) b"], "the marker waits for the end of the reading")
        for id in ["b", "c"] {
            try r.harness.receive(
                try r.harness.archived("archived-\(id)", R.message(id, stamped: false), at: R.noon))
        }
        for _ in 0..<2 { try r.harness.answerPage(last: "archived-c", complete: true) }
        #expect(try r.shown() == ["missed in", "a in", "b in", "c in"])
        #expect(try r.unread() == 0)
        #expect(try r.markers() == ["\(R.romeo) b", "\(R.romeo) c"])
    }

    @Test("all is read while the archive moves messages: all stays read, and a retracted message is no place")
    func readWhileMoving() throws {
        let r = try R()
        for id in ["a", "b", "c", "d"] { try r.harness.receive(R.message(id)) }
        try r.harness.receive(R.retraction(of: "d", from: R.romeo + "/orchard"))
        try r.harness.bind(answered: .all)
        try r.harness.answerFeatures(archive: true)
        for id in ["missed", "a"] {
            try r.harness.receive(
                try r.harness.archived("archived-\(id)", R.message(id, stamped: false), at: R.noon))
        }
        #expect(try r.shown() == ["b in", "c in", "- in", "missed in", "a in"])
        #expect(try r.read() == .done)
        #expect(try r.unread() == 0)
        for id in ["b", "c"] {
            try r.harness.receive(
                try r.harness.archived("archived-\(id)", R.message(id, stamped: false), at: R.noon))
            #expect(try r.unread() == 0)
        }
        for _ in 0..<2 { try r.harness.answerPage(last: "archived-c", complete: true) }
        #expect(try r.shown() == ["- in", "missed in", "a in", "b in", "c in"])
        #expect(try r.unread() == 0)
        #expect(try r.markers() == ["\(R.romeo) c"])
    }

    @Test("the displayed message was retracted and erased: what came after is told as unread")
    func erasedInArchive() throws {
        let r = try R()
        for id in ["a", "b"] { try r.harness.receive(R.message(id)) }
        try r.read()
        try r.harness.bind(answered: .all)
        try r.harness.answerFeatures(archive: true)
        let shown = [
            ("a", R.message("a", stamped: false)), ("x1", R.retraction(of: "b", from: R.romeo + "/orchard")),
            ("c", R.message("c", stamped: false)),
        ]
        for (id, xml) in shown { try r.harness.receive(try r.harness.archived("archived-\(id)", xml, at: R.noon)) }
        #expect(try r.unread() == 1)
        for _ in 0..<2 { try r.harness.answerPage(last: "archived-c", complete: true) }
        #expect(try r.unread() == 1)
    }

    @Test("one name a conversation is kept, however many come")
    func bounded() throws {
        let r = try R()
        for number in 0..<50 { try r.harness.receive(R.carbon(R.ownMarker(for: "unknown-\(number)"))) }
        #expect(try r.harness.number("SELECT count(*) FROM early_displayed") == 10)
        try r.harness.receive(R.event(R.item(String(repeating: "x", count: 5000), chat: "nurse@example.net")))
        #expect(try r.harness.number("SELECT count(*) FROM early_displayed") == 10)
    }

    @Test("the node names a missed message, and the archive shows an older marker first: the missed message counts")
    func olderMarker() throws {
        let r = try R(caughtUp: false)
        try r.harness.receive(R.message("old"))
        try r.harness.receive(R.event(R.item("missed")))
        for id in ["old", "missed"] {
            try r.harness.receive(
                try r.harness.archived("archived-\(id)", R.message(id, stamped: false), at: R.noon))
            guard id == "old" else { continue }
            try r.harness.receive(try r.harness.archived("marker", R.ownMarker(for: "old"), at: R.noon))
        }
        try r.harness.answerPage(last: "archived-missed", complete: true)
        try r.harness.answerPage(complete: true)
        #expect(try r.unread() == 0)
        #expect(try r.harness.number("SELECT count(*) FROM early_displayed") == 0)
    }

    @Test("a place follows its message when the archive gives the message another place")
    func moved() throws {
        let r = try R()
        for id in ["one", "two"] { try r.harness.receive(R.message(id)) }
        try r.read(through: "one")
        try r.harness.perform { step in
            let rows = MessageReader(database: step.database, account: step.account.id)
            let row = try #require(try rows.named("one", in: R.romeo, by: .others, from: nil)?.row)
            try MessageWriter(step: step).move(row, to: try step.nextPosition())
        }
        #expect(try r.unread() == 0, "the displayed message is the last one now")
    }

    @Test("`read` of an unknown message, or of another conversation's, fails; of an empty conversation, does nothing")
    func wrong() throws {
        let r = try R()
        try r.harness.receive(R.message("one"))
        #expect(try r.read(through: "unknown") == .failed("there is no such message"))
        #expect(
            try r.read("nurse@example.net", through: "one")
                == .failed("the message is not in the conversation with nurse@example.net"))
        #expect(try r.read("nurse@example.net") == .done)
        #expect(try r.unread() == 1)
    }

    @Test("a million messages and few unread: counting is a search in the index alone")
    func plan() throws {
        let r = try R()
        let plan = try r.harness.database.prepare(
            """
            EXPLAIN QUERY PLAN SELECT count(*) FROM (SELECT 1 FROM message WHERE account = 1 AND conversation = 'x'
                AND position > 5 AND shown = 1 AND direction = 'in' AND erased IS NULL LIMIT 5)
            """
        ).all { $0.text("detail") }.joined(separator: "; ")
        #expect(plan.contains("COVERING INDEX message_order (account=? AND conversation=? AND position>?)"), "\(plan)")
    }
}
