import Testing

@testable import KalijApp

@Suite struct SpokenChangesTests {
    private func page(_ states: DeliveryState..., text: String = "Good night") -> Page {
        var page = Page()
        page.messages = states.enumerated().map { number, state in
            MessageRow(id: Int64(number + 1), author: "You", isOwn: true, text: text, at: 0, state: state)
        }
        return page
    }

    @Test func `Sent is said once, and neither that it was delivered nor that it was read`() {
        #expect(page(.sent).changes(since: page(.sending)) == ["Sent"])
        #expect(page(.delivered).changes(since: page(.waiting(nil))) == ["Sent"])
        #expect(page(.read).changes(since: page(.delivered)).isEmpty)
        #expect(page(.sent, .delivered).changes(since: page(.waiting(nil), .waiting(nil))) == ["Sent"])
        #expect(page(.sending).changes(since: page(.waiting(nil))).isEmpty)
        #expect(page(.sent).changes(since: page(.notSent("no such user"))) == ["Sent"])
    }

    @Test func `A message that was there for the first time is no change`() {
        #expect(page(.sent).changes(since: Page()).isEmpty)
    }

    @Test func `Which text failed is said, and why`() {
        let failed = page(.notSent("no such user")).changes(since: page(.sending))
        #expect(failed == ["You: Good night. Not sent: no such user"])
        #expect(page(.notSent("no such user")).changes(since: page(.notSent("no such user"))).isEmpty)
    }

    @Test func `A correction is said`() {
        var corrected = page(.sent, text: "Good morrow")
        corrected.messages[0].isEdited = true
        #expect(corrected.changes(since: page(.sent)) == ["Edited"])
        #expect(corrected.changes(since: corrected).isEmpty)
    }

    @Test func `A file says that it stopped and went on, and no percents`() {
        func page(_ state: FileState) -> Page {
            var page = self.page(.waiting(nil))
            page.messages[0].file = FileRow(name: "a.bin", kind: .other, size: 100, state: state)
            return page
        }
        #expect(page(.paused).changes(since: page(.moving(40, .up))) == ["Stopped"])
        #expect(page(.moving(40, .up)).changes(since: page(.paused)) == ["Uploading"])
        #expect(page(.moving(60, .up)).changes(since: page(.moving(40, .up))).isEmpty)
        let cut = page(.waiting("no connection", .up)).changes(since: page(.moving(4, .up)))
        #expect(cut == ["Waiting: no connection"])
    }

    @Test(arguments: [(0, 1), (600, 8), (1080, 14), (10_000, 30)])
    func `Rows beside a found one fill the window`(_ height: Int, _ rows: Int) {
        #expect(Window.beside(height: height) == rows)
    }
}
