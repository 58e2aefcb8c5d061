import Foundation
import KalijAddress
import KalijCoordination
import KalijStore
import KalijXML
import TestSupport
import Testing

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// The public reader of conversations.
struct ConversationsTests {
    private typealias R = ReadingHarness

    private func conversations(_ r: ReadingHarness) throws -> Conversations {
        try Conversations(r.harness.directory, clock: r.harness.clock.clock)
    }

    @Test("conversations by last activity, with the last line, the unread count, the draft and the settings")
    func list() throws {
        let r = try R()
        for (id, contact) in [("1", R.romeo), ("2", "nurse@example.net"), ("3", R.romeo)] {
            r.harness.clock.move(by: 1000)
            try r.harness.receive(R.message(id, from: contact))
        }
        r.harness.clock.move(by: 1000)
        try r.harness.perform { step in
            try step.setDraft("Dear", for: try JID("paris@example.com/x"))
            var change = ChangeSettings(for: try JID(R.romeo))
            change.notify = "none"
            _ = try Intents(step: step).perform(change, id: "c")
        }
        try r.read("nurse@example.net")
        let all = try conversations(r).all()
        #expect(all.map(\.jid) == ["paris@example.com", R.romeo, "nurse@example.net"])
        #expect(all.map(\.unread) == [0, 2, 0])
        #expect(try conversations(r).unread(with: try JID(R.romeo)).map(\.body) == ["1", "3"])
        #expect(try conversations(r).unread(with: try JID("nurse@example.net")).isEmpty)
        #expect(all.map(\.last?.body) == [nil, "3", "2"])
        #expect(all.map(\.draft?.body) == ["Dear", nil, nil])
        #expect(all.map(\.settings.notify) == [.all, .none, .all])
        try r.harness.perform { try $0.setDraft("", for: try JID("paris@example.com")) }
        #expect(try conversations(r).all().count == 2)
    }

    @Test("heads are the same conversations in the same order, with rooms in which nothing was said, and names")
    func heads() throws {
        let r = try R()
        try r.harness.receive(R.message("1"))
        try r.harness.perform { step in
            try step.setDraft("Dear", for: try JID("paris@example.com"))
            let room = try #require(
                try RoomRows(database: step.database, account: step.account.id).make(
                    JID("den@rooms.example.net"), nick: "me"))
            try step.database.run("UPDATE room SET wanted = 1 WHERE id = ?", [.integer(room.id)])
            let new = try #require(
                try RoomRows(database: step.database, account: step.account.id).make(
                    JID("new@rooms.example.net"), nick: "me"))
            try step.database.run(
                "UPDATE room SET wanted = 1, since = ? WHERE id = ?", [.integer(step.now + 1000), .integer(new.id)])
            try RosterRows(database: step.database, account: step.account.id).store(
                Contact(JID(R.romeo), name: "Romeo", subscription: .both))
        }
        let reader = try conversations(r)
        let heads = try reader.heads()
        let all = try reader.all()
        #expect(heads.map(\.jid) == all.map(\.jid))
        #expect(heads.map(\.name) == all.map(\.name))
        #expect(heads.map(\.activeAt) == all.map(\.activeAt))
        #expect(heads.map(\.isRoom) == all.map(\.isRoom))
        #expect(heads.last?.jid == "den@rooms.example.net" && heads.last?.isRoom == true && heads.last?.activeAt == 0)
        #expect(heads.first?.jid == "new@rooms.example.net")
        #expect(heads.first { $0.jid == R.romeo }?.name == "Romeo")
        #expect(try reader.name(of: try JID(R.romeo)) == "Romeo")
    }

    @Test("a draft is kept for another process, too, and replaced or removed by a later draft")
    func draft() throws {
        let r = try R()
        let decoded = try JSONDecoder().decode(
            SetDraft.self, from: Data(#"{"command":"draft","conversation":"paris@example.com/x","body":"Dear"}"#.utf8))
        for (number, (intent, body)) in [
            (decoded, "Dear"), (SetDraft("Dear Paris", for: try JID("paris@example.com")), "Dear Paris"),
            (SetDraft("", for: try JID("paris@example.com")), nil),
        ].enumerated() {
            try r.harness.directory.share(intent, id: "draft-\(number)")
            let store = try MailboxQueue(directory: r.harness.directory.path)
            try MailboxImporter(runner: r.harness.runner, store: store).run { _, _ in }
            // Two drafts a second leave no rows.
            #expect(try r.harness.outcome("draft-\(number)") == nil)
            #expect(try conversations(r).conversation(with: .received("paris@example.com")).draft?.body == body)
        }
        let long = SetDraft(String(repeating: "a", count: 60_001), for: try JID("paris@example.com"))
        #expect(throws: IntentFailure.self) { try r.harness.directory.share(long) }
        #expect(throws: (any Error).self) {
            try r.harness.directory.share(
                JSONDecoder().decode(SetDraft.self, from: Data(#"{"conversation":"","body":""}"#.utf8)))
        }
    }

    @Test("a draft keeps the message that it replies to, until that message is gone")
    func draftOfReply() throws {
        let r = try R()
        try r.harness.receive(R.message("m"))
        let romeo = try JID(R.romeo)
        func answered() throws -> Int64? { try conversations(r).conversation(with: romeo).draft?.answered }
        let row = try #require(try conversations(r).messages(with: romeo, limit: 1).first?.id)
        let decoded = try JSONDecoder().decode(
            SetDraft.self, from: Data(#"{"conversation":"\#(R.romeo)","body":"Dear","reply":"m"}"#.utf8))
        for intent in [decoded, SetDraft("Dear", for: romeo, answering: .row(row))] {
            try r.harness.want(intent, id: "d")
            #expect(try answered() == row)
            try r.harness.want(SetDraft("Dear", for: romeo), id: "e")
            #expect(try answered() == nil)
        }
        try r.harness.want(SetDraft("Dear", for: romeo, answering: .id("missing")), id: "f")
        #expect(try answered() == nil && conversations(r).conversation(with: romeo).draft?.body == "Dear")
        try r.harness.want(decoded, id: "g")
        try r.harness.want(Forget(.row(row)), id: "h")
        #expect(try answered() == nil && conversations(r).conversation(with: romeo).draft?.body == "Dear")
    }

    @Test("pages before, after and around a message")
    func pages() throws {
        let r = try R()
        for id in 1...9 { try r.harness.receive(R.message("\(id)")) }
        try r.harness.receive(R.message("nurse", from: "nurse@example.net"))
        let reader = try conversations(r)
        let romeo = try JID(R.romeo)
        func bodies(_ messages: [Message]) -> String { messages.map { $0.body ?? "-" }.joined() }
        let last = try reader.messages(with: romeo, limit: 3)
        #expect(bodies(last) == "789")
        let id = try #require(last.first).id
        #expect(bodies(try reader.messages(with: romeo, before: id, limit: 3)) == "456")
        #expect(bodies(try reader.messages(with: romeo, after: id, limit: 1)) == "8")
        #expect(bodies(try reader.messages(with: romeo, around: id, limit: 2)) == "56789")
        #expect(try reader.messages(with: romeo, around: 9999, limit: 2).isEmpty)
        #expect(try reader.message(id)?.body == "7" && reader.message(9999) == nil)
    }

    @Test("changes after a number: each message once, as it is now")
    func changes() throws {
        let r = try R()
        for id in 1...3 { try r.harness.receive(R.message("\(id)")) }
        let first = try conversations(r).changes(since: 0)
        #expect(first.messages.map(\.body) == ["1", "2", "3"] && !first.isComplete)
        #expect(try conversations(r).changes(since: first.last).isComplete)
        try r.harness.receive(
            """
            <message from='\(R.romeo)/x' type='chat' id='c'><body>one</body>\
            <replace xmlns='urn:xmpp:message-correct:0' id='1'/></message>
            """)
        try r.harness.receive(R.message("4"))
        let second = try conversations(r).changes(since: first.last)
        #expect(second.messages.map(\.body) == ["one", "4"])
        #expect(try conversations(r).changes(since: 0).messages.map(\.body) == ["2", "3", "one", "4"])
    }

    @Test("thousands of conversations: the list does not look at all messages")
    func large() throws {
        let r = try R()
        let reader = try conversations(r)
        // The cost of the list with so many messages in each of 1,000 conversations.
        func cost(_ messages: ClosedRange<Int>) throws -> Double {
            try r.harness.database.execute(
                """
                WITH RECURSIVE n(i) AS (SELECT \(messages.lowerBound) UNION ALL SELECT i + 1 FROM n WHERE i < \(messages.upperBound))
                INSERT INTO message(account, direction, conversation, position, archive, message_id, sender, recipient, type, body,
                    shown, sent_at)
                SELECT 1, 'in', 'c' || (i % 1000) || '@example.net', i, '', 'm' || i, 'c' || (i % 1000) || '@example.net/x',
                    'juliet@example.org', 'chat', 'text', 1, i FROM n;
                INSERT OR REPLACE INTO displayed(account, conversation, message, position)
                    SELECT 1, conversation, id, max(position) FROM message WHERE position < \(messages.upperBound - 500) GROUP BY conversation;
                """)
            return try ThreadCost.least(of: 3) {
                let all = try reader.all()
                #expect(all.count == 1000 && all.map(\.unread).reduce(0, +) == 501)
            }
        }
        let (few, many) = (try cost(1...2_000), try cost(2_001...40_000))
        print("list of 1,000 conversations: \(few) s with 2,000 messages, \(many) s with 40,000")
        #expect(many < 6 * few)
    }
}
