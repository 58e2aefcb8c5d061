import KalijClient
import Testing

@testable import KalijApp

@Suite struct SearchListTests {
    private func row(_ name: String, at: Int64 = 1, found: Int64? = nil) -> ConversationRow {
        var row = ConversationRow(key: ConversationKey(account: "romeo@x", jid: name.lowercased() + "@x"), name: name)
        (row.at, row.preview, row.found) = (at, "Hello", found)
        return row
    }

    /// A mutating call is no argument of the macro.
    private func check(_ isRight: Bool, at location: SourceLocation = #_sourceLocation) {
        #expect(isRight, sourceLocation: location)
    }

    private func searched(_ words: String) -> ConversationList {
        var list = ConversationList()
        list.read([row("Juliet", at: 3), row("Nurse", at: 2)])
        list.search = words
        return list
    }

    @Test func `Names come before messages, and without words there are no messages`() {
        var list = searched("jul")
        check(list.read(SearchResults(rows: [row("Nurse", found: 7)]), for: "jul", from: nil))
        #expect(list.shown.map(\.name) == ["Juliet", "Nurse"])
        #expect(list.shown.map(\.found) == [nil, 7])
        list.search = ""
        #expect(list.shown.map(\.found) == [nil, nil])
        #expect(list.nextResults == nil)
    }

    @Test func `Results for other words are dropped, those before stay until then`() {
        var list = searched("jul")
        check(list.read(SearchResults(rows: [row("Nurse", found: 7)]), for: "jul", from: nil))
        list.search = "juli"
        #expect(list.shown.map(\.found) == [nil, 7])
        check(!list.read(SearchResults(rows: [row("Nurse", found: 8)]), for: "jul", from: nil))
        check(list.read(SearchResults(), for: "juli", from: nil))
        #expect(list.shown.map(\.found) == [nil])
    }

    @Test func `Older results follow, once`() throws {
        let (first, second) = (try #require(SearchKey(row: 9, at: 9000)), try #require(SearchKey(row: 5, at: 5000)))
        var list = searched("hello")
        check(list.read(SearchResults(rows: [row("A", found: 9)], older: first), for: "hello", from: nil))
        #expect(list.nextResults == first)
        check(list.read(SearchResults(rows: [row("B", found: 5)], older: second), for: "hello", from: first))
        check(!list.read(SearchResults(rows: [row("B", found: 5)], older: second), for: "hello", from: first))
        #expect(list.shown.map(\.found) == [9, 5])
    }

    @Test func `Messages follow when all names are shown`() {
        var list = ConversationList()
        list.read((0..<50).map { row("Person\($0)", at: Int64(100 - $0)) })
        list.search = "person"
        check(list.read(SearchResults(rows: [row("Nurse", found: 7)]), for: "person", from: nil))
        #expect(list.shown.count == ConversationList.begin)
        #expect(list.grow() && list.shown.count == 51)
    }

    @Test func `A message found says so, with its text and time`() {
        #expect(row("Juliet", found: 7).spoken("Monday") == "Juliet, message: Hello, Monday")
        var several = row("Juliet", found: 7)
        several.showsAccount = true
        #expect(several.spoken("") == "Juliet, account romeo@x, message: Hello")
    }

    @Test func `A thread around a message grows forwards without a jump`() {
        var thread = Thread(ConversationKey(account: "romeo@x", jid: "juliet@x"), isGroup: false)
        var page = Page()
        page.messages = (100...160).map { MessageRow(id: $0, author: "Juliet", isOwn: false, text: "x", at: $0) }
        page.hasNewer = true
        _ = thread.read(page)
        #expect(thread.newer == Window(first: 100, count: 121))
    }
}
