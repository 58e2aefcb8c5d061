import KalijAddress
import KalijHandlers
import KalijXML
import Testing

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// Files that stay for their conversation, paused uploads, and what a page has of both.
extension UploadTests {
    @Test("the file of an own message is kept until it is named, and until the message is forgotten")
    func kept() throws {
        let harness = try online()
        try send(harness)
        _ = try finish(harness)
        _ = try harness.write()
        try harness.acknowledgeAll()
        #expect(try FileDeletionQueue.some(in: harness.database).isEmpty)
        #expect(try PendingFileWork.isAny(in: harness.database))
        #expect(try page(harness).messages.last?.file?.path?.hasSuffix("/files/out/file-f") ?? false)
        try link(harness, as: "in/1/cat.jpg")
        #expect(try FileDeletionQueue.some(in: harness.database).map(\.name) == ["out/file-f"])
        let message = try #require(try page(harness).messages.last)
        #expect(message.file?.path?.hasSuffix("/files/in/1/cat.jpg") ?? false)
        try harness.want(Forget(.row(message.id)), id: "forget")
        #expect(try FileDeletionQueue.some(in: harness.database).map(\.name) == ["out/file-f", "in/1/cat.jpg"])
    }

    @Test("an own file that is lost takes nothing with it")
    func lostOwnFile() throws {
        let harness = try online()
        try send(harness)
        _ = try finish(harness)
        try link(harness, as: nil)
        #expect(try page(harness).messages.last?.file?.path == nil)
        #expect(try FileDeletionQueue.some(in: harness.database).isEmpty)
    }

    @Test("a message forgotten while its file is linked leaves no file")
    func forgottenWhileLinked() throws {
        let harness = try online()
        try send(harness)
        _ = try finish(harness)
        let file = try #require(
            try ReceivedFileRows(database: harness.database).unnamed(of: harness.account.id, limit: 1).first)
        _ = try harness.write()
        try harness.acknowledgeAll()
        try harness.want(Forget(.row(file.message)), id: "forget")
        _ = try harness.runner.run("download", for: harness.account) {
            try ReceivedFiles(step: $0).linked(file, as: "in/1/cat.jpg")
        }
        #expect(
            try FileDeletionQueue.some(in: harness.database).map(\.name).sorted() == ["in/1/cat.jpg", "out/file-f"])
    }

    // MARK: Pauses and pages

    @Test("a paused upload waits, whatever happens, until it is resumed")
    func paused() throws {
        let harness = try online()
        try send(harness)
        try begin(harness)
        try harness.want(PauseUpload("f"), id: "pause")
        try answer(harness, Self.slot)
        try step(harness) { try $0.networkChanged() }
        try step(harness) { try $0.serviceSilent() }
        let row = try #require(try row(harness))
        #expect(row.plan.stage == .waiting && row.plan.reason?.hasPrefix("paused") ?? false)
        let rows = UploadRows(database: harness.database, account: harness.account.id)
        #expect(try rows.due(at: .max - 1, limit: 10).isEmpty)
        #expect(try page(harness).uploads.map(\.isPaused) == [true])
        try harness.want(RetryUpload("f"), id: "resume")
        #expect(try rows.due(at: 0, limit: 10).map(\.messageID) == ["f"])
        #expect(try page(harness).uploads.map(\.isPaused) == [false])
    }

    @Test("an upload that has retried by itself is under way, and a retry of it is done")
    func retryOfOneUnderWay() throws {
        let harness = try online()
        try send(harness)
        try begin(harness)
        let plan = try #require(try row(harness)).plan
        #expect(plan.stage == .asking)
        try harness.want(RetryUpload("f"), id: "again")
        #expect(try harness.outcome("again") == .done)
        #expect(try row(harness)?.plan == plan)
    }

    @Test("an upload whose last block may have left is not paused")
    func notPaused() throws {
        let harness = try online()
        try send(harness)
        try begin(harness)
        try answer(harness, Self.slot)
        let id = try #require(try row(harness)).id
        try step(harness) { try $0.handle(.seal, id) }
        try harness.want(PauseUpload("f"), id: "pause")
        guard case .failed? = try harness.outcome("pause") else { return #expect(Bool(false), "it was paused") }
        #expect(try row(harness)?.plan.stage == .sealed)
    }

    @Test("the page of a conversation has its files until their messages are stored, and those that have failed")
    func pageOfFiles() throws {
        let harness = try online()
        try send(harness, text: "my cat")
        let upload = try #require(try page(harness).uploads.first)
        #expect([upload.id, upload.name, upload.type, upload.state] == ["f", "cat.jpg", "image/jpeg", "waiting"])
        #expect(upload.text == "my cat" && upload.path?.hasSuffix("/files/out/file-f") ?? false)
        let others = Conversations(reading: harness.database, of: harness.account)
        #expect(try others.page(with: try JID("nurse@example.net"), limit: 30)?.uploads == [])
        _ = try finish(harness)
        #expect(try page(harness).uploads.isEmpty)
        try send(harness, id: "g", size: 2_000_000)
        try begin(harness, "g")
        let failed = try page(harness)
        #expect(failed.uploads.map(\.state) == ["failed"] && failed.messages.last?.originID == "g")
    }
}
