import Testing

@testable import KalijCore
@testable import KalijFeatures

struct BookmarkOrderTests {
    @Test("the list of bookmarks is read once, behind presence: the server then tells what other devices change")
    func afterPresence() throws {
        let harness = try StepHarness.online()
        try harness.answerFeatures(archive: true)
        #expect(try !SessionRow.isAvailable(harness.account.id, in: harness.database))
        #expect(try harness.waiting(BookmarksResponse.name).isEmpty)
        try harness.answerPage(complete: true)
        try harness.answerPage(complete: true)
        #expect(try SessionRow.isAvailable(harness.account.id, in: harness.database))
        let asked = try harness.waiting(BookmarksResponse.name)
        #expect(asked.count == 1)
        let sent = try harness.write().map { String(decoding: $0.stanza, as: UTF8.self) }
        let presence = try #require(sent.firstIndex { $0.hasPrefix("<presence") })
        let question = try #require(sent.firstIndex { $0.contains(asked[0]) })
        #expect(presence < question)
    }
}
