import Foundation
import KalijAddress
import KalijCoordination
import Testing

@testable import KalijClient
@testable import KalijCore
@testable import KalijFeatures

/// A draft that is accepted as the text of a file.
struct FileDraftTests {
    private let harness: StepHarness
    private let romeo: JID

    init() throws {
        (harness, romeo) = (try StepHarness.online(), try JID("romeo@example.net"))
        try harness.acknowledgeAll()
        try harness.perform { try $0.setDraft("begun", for: JID("romeo@example.net")) }
    }

    private func importMailbox() throws {
        let store = try Mailbox(directory: harness.directory.path).parcels
        try MailboxImporter(runner: harness.runner, store: store).run { _, _ in }
    }

    private func send(endsDraft: Bool) throws {
        let path = harness.directory.path + "/balcony.txt"
        try Data("by the moon".utf8).write(to: URL(fileURLWithPath: path))
        try Attachments(harness.directory).send(path, to: romeo, text: "begun", endsDraft: endsDraft)
    }

    private func stored() throws -> String? {
        try Draft.load(for: romeo.description, of: harness.account.id, in: harness.database)?.body
    }

    /// What an application displays.
    private func displayed() throws -> String {
        try Conversations(harness.directory).unsentTexts(for: romeo, mailbox: harness.directory).draft?.body ?? ""
    }

    @Test("the draft ends in the step that imports the file, and is not displayed from the acceptance on")
    func ends() throws {
        try send(endsDraft: true)
        #expect(try stored() == "begun" && displayed().isEmpty)
        try importMailbox()
        #expect(try stored() == nil && displayed().isEmpty)
        #expect(try UploadRows(database: harness.database, account: harness.account.id).all().count == 1)
    }

    @Test("a file that was not the draft leaves it")
    func stays() throws {
        try send(endsDraft: false)
        #expect(try displayed() == "begun")
        try importMailbox()
        #expect(try stored() == "begun" && displayed() == "begun")
    }

    @Test("the last entry of the mailbox counts: a draft begun after the acceptance is displayed, and stays")
    func another() throws {
        try send(endsDraft: true)
        try harness.directory.share(SetDraft("new", for: romeo))
        #expect(try displayed() == "new")
        try importMailbox()
        #expect(try stored() == "new" && displayed() == "new")
        try harness.directory.share("new", to: romeo, endsDraft: true)
        #expect(try stored() == "new" && displayed().isEmpty)
    }
}
