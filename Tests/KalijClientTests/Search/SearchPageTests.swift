import KalijAddress
import KalijStore
import TestSupport
import Testing

@testable import KalijClient
@testable import KalijCore
@testable import KalijFeatures

/// The results of a search by pages, and where the words are in them.
struct SearchPageTests {
    private let harness: StepHarness

    init() throws { harness = try StepHarness.caughtUp() }

    /// Stores messages in rows of their own, as archives do: the order of the rows is not that of the times.
    private func store(
        _ text: String, at time: Int64, in conversation: String = "romeo@example.net", shown: Bool = true
    ) throws {
        let number = try harness.number("SELECT count(*) FROM message") ?? 0
        try harness.database.run(
            """
            INSERT INTO message(account, direction, conversation, position, archive, message_id, sender, recipient, type, body,
                shown, sent_at, received_at) VALUES (?1, 'in', ?2, ?3, '', 'm', ?2 || '/x', 'x', 'chat', ?4, ?5, ?6, 1)
            """,
            [
                .integer(harness.account.id), .text(conversation), .integer(number + 1), .text(text),
                .integer(shown ? 1 : 0), .integer(time),
            ])
    }

    private func index() throws {
        while try SearchIndex(database: harness.database).hasWork() {
            _ = try harness.database.transaction { try SearchIndex(database: harness.database).work() }
        }
    }

    private func pages(_ words: String, limit: Int, in jid: String? = nil) throws -> [[String?]] {
        let reader = try HistoryReader(harness.directory)
        var (place, pages) = (SearchKey?.none, [[String?]]())
        repeat {
            let page = try reader.search(
                SearchWords(words), with: jid.map { try JID($0) }, from: place, limit: limit)
            pages.append(page.hits.map(\.message.body))
            place = page.older
            try #require(pages.count < 1000)
        } while place != nil
        return pages
    }

    @Test("pages have each message once, newest first by time, indexed or not", arguments: [0, 3, 7])
    func pages(indexed: Int) throws {
        // Older history is stored after newer messages.
        for (number, time) in [50, 60, 70, 20, 30, 40, 10].enumerated() {
            if number == indexed { try index() }
            try store("word \(time)", at: Int64(time) * 1000)
        }
        let all = (1...7).reversed().map { "word \($0)0" }
        #expect(try pages("wor", limit: 100).flatMap { $0 } == all)
        for limit in 1...4 {
            let pages = try pages("wor", limit: limit)
            #expect(pages.flatMap { $0 } == all)
            #expect(pages.dropLast().allSatisfy { $0.count == limit })
        }
        let reader = try HistoryReader(harness.directory)
        let id = try #require(try harness.number("SELECT id FROM message WHERE body = 'word 40'"))
        let place = try #require(try reader.searchPlace(of: id))
        #expect(
            try reader.search(SearchWords("word"), from: place).hits.map(\.message.body) == [
                "word 30", "word 20", "word 10",
            ])
        #expect(try reader.searchPlace(of: 999) == nil)
    }

    @Test("a search of one conversation does not read the results of others")
    func conversation() throws {
        for number in 0..<500 {
            try store(
                "word \(number)", at: Int64(number) * 1000, in: number == 3 ? "nurse@example.net" : "romeo@example.net")
        }
        try index()
        #expect(try pages("word", limit: 10, in: "nurse@example.net") == [["word 3"]])
        #expect(try pages("word", limit: 10, in: "nobody@example.net") == [[]])
    }

    @Test("texts that are not shown do not extend a page without end")
    func hidden() throws {
        for number in 0..<12_000 { try store("word", at: Int64(number) * 1000 + 1000, shown: false) }
        try store("a word", at: 0)
        try index()
        let reader = try HistoryReader(harness.directory)
        let first = try reader.search(SearchWords("word"))
        #expect(first.hits.isEmpty && first.older != nil)
        #expect(try pages("word", limit: 10) == [[], ["a word"]])
    }

    @Test("a text of any time and row has a place", arguments: [.min, -1, 0, 4_294_967_295_999, .max - 1])
    func keys(time: Int64) throws {
        try store("word", at: time)
        try index()
        #expect(try pages("word", limit: 1).flatMap { $0 } == ["word"])
        #expect(SearchKey(row: 1 << 31, at: 0) == nil && SearchKey(row: -1, at: 0) == nil)
    }

    @Test("a message whose time has changed since is corrected and erased in the index")
    func movedTime() throws {
        try store("zanzibar", at: 5000)
        try index()
        try harness.database.execute("UPDATE message SET sent_at = 99000")
        try harness.perform {
            try MessageWriter(step: $0).rewrite(1, body: "timbuktu", editedAt: 1, erasure: nil)
        }
        #expect(try pages("zanzibar", limit: 1) == [[]])
        #expect(try pages("timb", limit: 1).flatMap { $0 } == ["timbuktu"])
        try harness.perform {
            try MessageWriter(step: $0).rewrite(1, body: nil, editedAt: nil, erasure: .retracted)
        }
        #expect(try pages("timb", limit: 1) == [[]])
        #expect(try harness.number("SELECT count(*) FROM search_row") == 0)
    }

    @Test("all accounts are searched, or those requested")
    func accounts() throws {
        try AccountTable(harness.database).store(
            jid: try JID("nurse@example.org"), server: ServerSettings(),
            login: SuccessfulLogin(mechanism: .plain, keys: nil, password: "secret"), resource: "x")
        let other = try AccountTable(harness.database).account(try JID("nurse@example.org"), in: harness.directory)
        try store("word here", at: 1000)
        try store("word there", at: 2000)
        try harness.database.run("UPDATE message SET account = ? WHERE id = 2", [.integer(other.id)])
        let reader = try HistoryReader(harness.directory)
        for _ in 0..<2 {
            let all = try reader.search(SearchWords("wo"))
            #expect(all.hits.map(\.message.body) == ["word there", "word here"])
            #expect(all.hits.map(\.account) == [other.id, harness.account.id])
            #expect(try reader.search(SearchWords("wo"), of: [other]).hits.map(\.message.body) == ["word there"])
            #expect(
                try reader.search(SearchWords("wo"), of: [harness.account], with: JID("romeo@example.net")).hits.count
                    == 1)
            #expect(try reader.search(SearchWords("wo"), with: JID("romeo@example.net")).hits.count == 2)
            try index()
        }
    }

    // MARK: Excerpts

    private func excerpt(_ text: String, _ words: String) throws -> SearchExcerpt {
        try SearchExcerpt.all(of: [text], SearchWords(words), in: harness.database)[0]
    }

    @Test(
        "an excerpt has the first word that was found, and its place",
        arguments: [
            ("Das Café, it's LATE", "cafe", 4..<8, "Das Café, it's LATE"),
            ("on holiday", "hol", 3..<10, "on holiday"),
            ("on\nholiday", "on", 0..<2, "on holiday"),
            ("休みの日に", "日", 3..<4, "休みの日に"),
            ("well 🎉 done", "🎉", 5..<6, "well 🎉 done"),
            ("\u{2}\u{3}x\0y word", "word", 6..<10, "\u{2}\u{3}x\0y word"),
        ])
    func excerpts(text: String, words: String, range: Range<Int>, shown: String) throws {
        let found = try excerpt(text, words)
        #expect(found.range == range)
        #expect(found.text == shown)
    }

    @Test("of a long text the part around the word is shown")
    func longText() throws {
        let long = String(repeating: "bla ", count: 50) + "holiday" + String(repeating: " bla", count: 50)
        let found = try excerpt(long, "hol")
        #expect(found.range == 200..<207)
        #expect(found.text.hasPrefix("…bla bla") && found.text.contains(" holiday ") && found.text.hasSuffix("…"))
        #expect(found.text.unicodeScalars.count == 102)
        let end = try excerpt(String(repeating: "x ", count: 10_000) + "holiday", "hol")
        #expect(end.range == nil && end.text.hasPrefix("x x") && end.text.hasSuffix("…"))
    }

    @Test("a text of 1 MB, of any characters, has an excerpt", arguments: ["\"", "(", "*", "日", "🎉", "a\u{301}"])
    func hostile(part: String) throws {
        let text = String(repeating: part, count: 1_000_000 / part.utf8.count)
        #expect(try excerpt(text, "\(part)x").text.unicodeScalars.count <= 102)
        #expect(try excerpt("x", String(text.prefix(2000))).text == "x")
    }
}
