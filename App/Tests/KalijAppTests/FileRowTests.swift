import Testing

@testable import KalijApp

@Suite struct FileRowTests {
    private func file(_ state: FileState, size: Int64? = 1000, upload: String? = nil, path: String? = nil) -> FileRow {
        var row = FileRow(name: "cat.jpg", kind: .picture, size: size, state: state)
        (row.upload, row.path) = (upload, path)
        return row
    }

    private func message(_ file: FileRow, id: Int64 = 1) -> MessageRow {
        var row = MessageRow(id: id, author: "You", isOwn: true, text: file.title, at: 0)
        row.file = file
        return row
    }

    @Test(arguments: [
        (FileState.waiting(nil, .up), "1 KB, Waiting"),
        (.waiting("no connection", .up), "1 KB, Waiting: no connection"),
        (.moving(nil, .up), "1 KB, Uploading"), (.moving(400, .up), "1 KB, Uploading, 40 percent"),
        (.moving(2000, .down), "1 KB, Downloading, 100 percent"), (.paused, "1 KB, Stopped"),
        (.offered, "1 KB, Not downloaded"), (.failed("too large", .down), "1 KB, Not downloaded: too large"),
        (.here, "1 KB"),
    ])
    func `Each state is in words`(_ state: FileState, _ words: String) {
        #expect(file(state).details.replacing("\u{A0}", with: " ") == words)
    }

    @Test func `The row says kind, name, size and state`() {
        let spoken = message(file(.moving(400, .up), upload: "u")).spoken("19:15").replacing("\u{A0}", with: " ")
        #expect(spoken == "You, 19:15: Picture cat.jpg. 1 KB, Uploading, 40 percent")
    }

    @Test func `Only what is possible is offered, and Enter does the first`() {
        #expect(file(.moving(1, .up), upload: "u").actions == [.pause, .cancel])
        #expect(file(.paused, upload: "u").actions == [.resume, .cancel])
        #expect(file(.waiting("no connection", .up), upload: "u").actions == [.resume, .pause, .cancel])
        #expect(file(.failed(nil, .up), upload: "u").actions == [.retry, .cancel])
        #expect(file(.failed(nil, .up)).actions.isEmpty)
        #expect(file(.offered).actions == [.download])
        #expect(file(.here, path: "/cat.jpg").actions == [.open, .saveAs])
        #expect(file(.here).actions.isEmpty)
    }

    @Test func `Only a picture that is here is decoded`() {
        #expect(file(.here, path: "/cat.jpg").picture == "/cat.jpg")
        var text = file(.here, path: "/a.txt")
        text.kind = .document
        #expect(text.picture == nil && file(.offered).picture == nil)
    }

    @Test func `A kind is the type's, else the name's`() {
        #expect(FileKind(type: "image/png", name: "a.pdf") == .picture)
        #expect(FileKind(type: "application/octet-stream", name: "a.MP4") == .video)
        #expect(FileKind(type: nil, name: "pdf") == .other)
    }

    @Test func `Sizes have their unit`() {
        let words = [0, 1, 999, 1000, 1500, 999_499, 999_500, 12_345_678, 5_000_000_000].map {
            Words.bytes($0).replacing("\u{A0}", with: " ")
        }
        #expect(
            words == ["0 bytes", "1 byte", "999 bytes", "1 KB", "1.5 KB", "999 KB", "1 MB", "12 MB", "5 GB"])
    }

    @Test func `Progress stays when the page is read again, until the file is there`() {
        let key = ConversationKey(account: "a@b", jid: "c@d")
        var thread = Thread(key, isGroup: false)
        var page = Page()
        page.messages = [message(file(.moving(nil, .up), upload: "u"), id: -5)]
        _ = thread.read(page)
        #expect(thread.moved("u", to: 500) && !thread.moved("other", to: 1))
        #expect(thread.page.messages.first?.file?.fraction == 0.5)
        _ = thread.read(page)
        #expect(thread.page.messages.first?.file?.fraction == 0.5)
        page.messages[0].file?.state = .here
        _ = thread.read(page)
        #expect(thread.page.messages.first?.file?.fraction == nil)
    }

    @Test func `Why a file waits is in the user's words, not in those of the engine or of a server`() {
        #expect(FileState.why("connection-lost: Recv failure: Connection reset by peer") == "the connection was lost")
        #expect(FileState.why("too-slow") == "the connection is too slow for a file of this size")
        #expect(FileState.why("the server answered HTTP 503 to the upload") == "the server does not take it now")
    }

    @Test func `Without a connection files wait for it`() {
        var page = Page()
        page.messages = [
            message(file(.moving(nil, .up), upload: "u")), message(file(.paused, upload: "v")),
            message(file(.moving(nil, .down))), message(file(.waiting("the connection was lost", .up), upload: "w")),
        ]
        page.noteOffline()
        #expect(
            page.messages.map { $0.file?.state } == [
                .waiting("no connection", .up), .paused, .moving(nil, .down), .waiting("no connection", .up),
            ])
    }
}
