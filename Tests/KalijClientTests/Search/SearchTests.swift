import Foundation
import KalijAddress
import KalijCoordination
import KalijStore
import TestSupport
import Testing

@testable import KalijCore
@testable import KalijClient
@testable import KalijFeatures

/// Search: all stored texts are found by their words, indexed or not, and erased texts are gone.
struct SearchTests {
    private let harness: StepHarness

    init() throws { harness = try StepHarness.caughtUp() }

    private func receive(_ text: String, id: String, from: String = "romeo@example.net/orchard", more: String = "")
        throws
    {
        try harness.receive(
            "<message from='\(from)' type='chat' id='\(id)'><body>\(text)</body><origin-id xmlns='urn:xmpp:sid:0' id='\(id)'/>\(more)</message>"
        )
    }

    private func retract(_ id: String, as retraction: String) throws {
        try harness.receive(
            """
            <message from='romeo@example.net/orchard' type='chat' id='\(retraction)'>\
            <retract xmlns='urn:xmpp:message-retract:1' id='\(id)'/></message>
            """)
    }

    private func correct(_ id: String, _ text: String, as correction: String) throws {
        try receive(text, id: correction, more: "<replace xmlns='urn:xmpp:message-correct:0' id='\(id)'/>")
    }

    private func find(
        _ words: String, in conversation: String? = nil, after: Int64? = nil, before: Int64? = nil, limit: Int = 100
    ) throws -> [String] {
        try HistoryReader(harness.directory).search(
            try SearchWords(words), of: [harness.account], with: conversation.map { try JID($0) }, after: after,
            before: before, limit: limit
        ).hits.reversed().map { $0.message.body ?? "" }
    }

    /// Does all work on the index, as the driver does.
    private func work() throws {
        var rounds = 0
        while try SearchIndex(database: harness.database).hasWork() {
            _ = try harness.database.transaction { try SearchIndex(database: harness.database).work() }
            rounds += 1
            try #require(rounds < 10_000)
        }
    }

    private func file() throws -> Data {
        try harness.database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return try Data(contentsOf: URL(fileURLWithPath: harness.directory.databasePath))
    }

    @Test(
        "a text is found by its words in any order, whatever case and accents, indexed or not",
        arguments: [false, true])
    func words(isIndexed: Bool) throws {
        try receive("Das Café, e-mail: it's LATE", id: "a")
        try receive("late again", id: "b")
        if isIndexed { try work() }
        #expect(try find("late cafe") == ["Das Café, e-mail: it's LATE"])
        #expect(try find("LATE") == ["Das Café, e-mail: it's LATE", "late again"])
        #expect(try find("E-Mail it's") == ["Das Café, e-mail: it's LATE"])
        #expect(try find("mail-e") == [])
        #expect(try find("caf") == ["Das Café, e-mail: it's LATE"])
        #expect(try find("afe") == [])
        #expect(try find("LAT") == find("LATE"))
        #expect(try find("e-ma it'") == ["Das Café, e-mail: it's LATE"])
        #expect(try find("e-ma's") == [])
        #expect(try find("late nothing") == [])
    }

    @Test("what a person writes is never a query of FTS5", arguments: [false, true])
    func signs(isIndexed: Bool) throws {
        try receive("to be OR NOT \"to\" be: NEAR(a b) *", id: "a")
        if isIndexed { try work() }
        for words in [
            "to OR be", "\"", "\"\"", "be\"", "NOT", "NEAR(", "NEAR(a b, 3)", "a AND", "body:", "body : to", "*", "be*",
            "^to", "-", "+ +", "(", "{a}", "👍", "👍 be", "a\0b", "'; DROP TABLE message; --", "\\", "%",
        ] {
            _ = try find(words)
        }
        #expect(try find("to OR be").count == 1)
        #expect(try find("👍 be") == [])
        #expect(try find("👍") == [])
        #expect(try find("x OR be") == [])
        #expect(try find("a\0b").count == 1)
        #expect(throws: SearchError.self) { try find(" \n") }
        #expect(throws: SearchError.self) { try find(String(repeating: "a", count: 1_000_000)) }
        #expect(throws: SearchError.self) { try find(String(repeating: "a ", count: 101)) }
        #expect(try find(String(repeating: "a-", count: 5000)) == [])
        #expect(try find(String(repeating: "\"", count: 10_000)) == [])
    }

    @Test("the newest are found, oldest first, of a conversation, and between times")
    func filters() throws {
        let noon = StepHarness.noon
        for number in 0..<6 {
            harness.clock.move(by: 1000)
            try receive(
                "word \(number)", id: "m\(number)",
                from: number % 2 == 0 ? "romeo@example.net/a" : "nurse@example.net/a")
            if number == 3 { try work() }
        }
        #expect(try find("word", limit: 3) == ["word 3", "word 4", "word 5"])
        #expect(try find("word", in: "nurse@example.net/b") == ["word 1", "word 3", "word 5"])
        #expect(try find("word", after: noon + 2000, before: noon + 5000) == ["word 1", "word 2", "word 3"])
        #expect(try find("word", after: noon + 4000, before: noon) == [])
    }

    @Test("a long tail of texts that are not indexed is searched in part, and says so")
    func longTail() throws {
        for number in 0..<2 { try receive("word \(number)", id: "m\(number)") }
        try work()
        for number in 2..<7 { try receive("word \(number)", id: "m\(number)") }
        func found(_ longest: Int) throws -> ([String?], Int64) {
            let found = try HistoryReader(harness.directory).search(SearchWords("word"), longestTail: longest)
            return (found.hits.reversed().map(\.message.body), found.unsearched)
        }
        #expect(try found(3) == (["word 0", "word 1", "word 4", "word 5", "word 6"], 2))
        #expect(try found(6).0.count == 7)
        #expect(try found(6).1 == 0)
    }

    @Test("messages that wait in the mailbox are found")
    func mailbox() throws {
        try harness.directory.share("a balcony", to: try JID("romeo@example.net"), clock: harness.clock.clock)
        try harness.directory.share("a garden", to: try JID("romeo@example.net"), clock: harness.clock.clock)
        #expect(try find("balcony") == ["a balcony"])
    }

    @Test("a correction is found by its new words alone", arguments: [false, true])
    func corrections(isIndexed: Bool) throws {
        try receive("yonder window", id: "a")
        if isIndexed { try work() }
        try correct("a", "yonder door", as: "b")
        #expect(try find("window") == [])
        #expect(try find("door") == ["yonder door"])
        try work()
        #expect(try find("window") == [])
        #expect(try find("yonder") == ["yonder door"])
        try correct("a", "yonder gate", as: "c")
        #expect(try find("door") == [])
        #expect(try find("yonder gate") == ["yonder gate"])
    }

    @Test("a correction before its original is found once, whatever comes first", arguments: [false, true])
    func early(isIndexed: Bool) throws {
        try correct("a", "yonder door", as: "b")
        if isIndexed { try work() }
        #expect(try find("yonder") == ["yonder door"])
        try receive("other", id: "x")
        try work()
        #expect(try find("yonder") == ["yonder door"])
    }

    @Test("a retracted text is found no more after the step, and is no more in the file after the work")
    func retracted() throws {
        for number in 0..<250 { try receive("filling word\(number)", id: "f\(number)") }
        try receive("my passphrase is zanzibar7", id: "a")
        try work()
        #expect(try find("zanzibar7").count == 1)
        #expect(try file().range(of: Data("zanzibar7".utf8)) != nil)
        try retract("a", as: "r")
        #expect(try find("zanzibar7") == [])
        #expect(try find("passphrase") == [])
        try work()
        #expect(try file().range(of: Data("anzibar7".utf8)) == nil)
        #expect(try find("filling").count == 100)
    }

    @Test("a retracted text that was not indexed yet is found no more, and not in the file")
    func retractedEarly() throws {
        try receive("my passphrase is zanzibar7", id: "a")
        try retract("a", as: "r")
        #expect(try find("zanzibar7") == [])
        try work()
        #expect(try find("zanzibar7") == [])
        #expect(try file().range(of: Data("anzibar7".utf8)) == nil)
    }

    @Test("words erased while others are being removed from the file are removed, too")
    func cleaningTwice() throws {
        for number in 0..<(RandomInput.isLong ? 2000 : 700) {
            try receive("filling unusual\(number)xyz", id: "f\(number)")
        }
        try receive("zanzibar7", id: "a")
        try receive("timbuktu9", id: "b")
        try work()
        try retract("a", as: "r1")
        _ = try harness.database.transaction { try SearchIndex(database: harness.database).work() }
        _ = try harness.database.transaction { try SearchIndex(database: harness.database).work() }
        try retract("b", as: "r2")
        try work()
        let file = try file()
        #expect(file.range(of: Data("anzibar7".utf8)) == nil)
        #expect(file.range(of: Data("imbuktu9".utf8)) == nil)
        #expect(try find("unusual123xyz").count == 1)
    }

    @Test("what the user removes is found no more")
    func forgotten() throws {
        try receive("zanzibar7", id: "a")
        try work()
        _ = try harness.perform { _ = try Intents(step: $0).perform(Forget(.id("a")), id: "i") }
        #expect(try find("zanzibar7") == [])
        try work()
        #expect(try file().range(of: Data("anzibar7".utf8)) == nil)
    }

    @Test("a message is found in the state in which the history shows the message")
    func displayed() throws {
        let sent = try ["first text", "second text"].map { try harness.accept($0) }
        _ = try harness.write()
        try harness.acknowledgeAll()
        try harness.receive(
            """
            <message from='romeo@example.net/orchard' type='chat' id='m'>\
            <displayed xmlns='urn:xmpp:chat-markers:0' id='\(sent[1].messageID)'/></message>
            """)
        let reader = try HistoryReader(harness.directory)
        let found = try Array(reader.search(try SearchWords("text")).hits.map(\.message).reversed())
        #expect(found.map(\.state) == [.displayed, .displayed])
        #expect(try found == reader.messages(of: harness.account, with: nil, limit: 10))
    }

    @Test("removing an account removes its words, and keeps those of others")
    func removed() throws {
        try AccountTable(harness.database).store(
            jid: try JID("nurse@example.org"), server: ServerSettings(),
            login: SuccessfulLogin(mechanism: .plain, keys: nil, password: "secret"), resource: "x")
        let other = try AccountTable(harness.database).account(try JID("nurse@example.org"), in: harness.directory)
        try receive("zanzibar7", id: "a")
        try receive("balcony", id: "b")
        try work()
        #expect(
            try HistoryReader(harness.directory).search(SearchWords("zanzibar7"), of: [other]).hits.isEmpty,
            "another account's message")
        try harness.database.execute(
            """
            INSERT INTO message(account, direction, conversation, position, archive, message_id, sender, recipient, type, body,
                shown, sent_at, received_at) VALUES (\(other.id), 'in', 'c@example.net', 1, '', 'm', 'c@example.net', 'x', 'chat',
                'kept word', 1, 1, 1)
            """)
        try work()
        _ = try harness.logoutSteps.logOut(removing: true)
        try work()
        let reader = try HistoryReader(harness.directory)
        #expect(try reader.search(SearchWords("kept"), of: [other]).hits.map(\.message.body) == ["kept word"])
        #expect(try reader.search(SearchWords("zanzibar7"), of: [other]).hits.isEmpty)
        #expect(try file().range(of: Data("anzibar7".utf8)) == nil)
    }

    @Test("a search reads beside a writer within a transaction, and changes nothing")
    func reads() throws {
        try receive("balcony", id: "a")
        try work()
        try receive("balcony door", id: "b")
        let changes = harness.database.totalChanges
        try harness.database.transaction {
            try harness.database.run("UPDATE search_progress SET place = place")
            #expect(try find("balcony").count == 2)
        }
        #expect(harness.database.totalChanges == changes + 1)
    }

    @Test("a message after the removal of the newest row is indexed")
    func afterRemoval() throws {
        try harness.receive(
            "<message from='romeo@example.net/a' type='chat' id='r'><reactions id='nothing' xmlns='urn:xmpp:reactions:0'><reaction>👍</reaction></reactions><store xmlns='urn:xmpp:hints'/></message>"
        )
        try work()
        let last = try MessageReader.newestRow(in: harness.database)
        _ = try harness.perform { try MessageWriter(step: $0).removeHidden(last) }
        try receive("balcony", id: "b")
        #expect(try MessageReader.newestRow(in: harness.database) == last + 1)
        try work()
        #expect(try find("balcony") == ["balcony"])
    }
}
