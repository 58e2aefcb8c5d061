import KalijAddress
import KalijCoordination
import Testing

@testable import KalijClient
@testable import KalijCore
@testable import KalijFeatures

/// A correction that was begun is there after a kill, as a draft is.
struct CorrectionDraftTests {
    private let harness: StepHarness
    private let romeo: JID

    init() throws {
        (harness, romeo) = (try StepHarness.online(), try JID("romeo@example.net"))
        try harness.acknowledgeAll()
    }

    private func send(_ body: String) throws -> Int64 { try harness.accept(body).id }

    private func importMailbox() throws {
        let store = try Mailbox(directory: harness.directory.path).parcels
        try MailboxImporter(runner: harness.runner, store: store).run { _, _ in }
    }

    private func displayed(_ jid: JID? = nil) throws -> CorrectionDraft? {
        try Conversations(harness.directory).unsentTexts(for: jid ?? romeo, mailbox: harness.directory).correction
    }

    private func keep(_ body: String, of row: Int64) throws {
        try harness.directory.share(SetCorrectionDraft(body, of: .row(row)))
    }

    @Test("it is displayed from the acceptance on, replaced by a later one, and ends when the user says so")
    func kept() throws {
        let row = try send("Good moror")
        for isImported in [false, true] {
            try keep("Good morr", of: row)
            try keep("Good morrow", of: row)
            if isImported { try importMailbox() }
            #expect(try displayed() == CorrectionDraft(message: row, body: "Good morrow"))
            #expect(try displayed(JID("paris@example.net")) == nil)
            try keep("", of: row)
            #expect(try displayed() == nil)
            try importMailbox()
            #expect(try displayed() == nil)
        }
    }

    @Test("the correction ends it in the step that accepts it; another message's stays")
    func corrected() throws {
        let (first, second) = (try send("Good moror"), try send("Gentle nigth"))
        try keep("Good morrow", of: first)
        try keep("Gentle night", of: second)
        try importMailbox()
        #expect(try displayed()?.message == second)
        try harness.directory.share(Correct(.row(second), body: "Gentle night"))
        #expect(try displayed() == nil)
        try importMailbox()
        #expect(try displayed() == CorrectionDraft(message: first, body: "Good morrow"))
    }

    @Test("no message, a message of somebody else, and a retracted one have none")
    func invalid() throws {
        try harness.receive(
            "<message from='romeo@example.net/x' type='chat' id='theirs'><body>Peace</body></message>")
        let theirs = try #require(
            try harness.database.statement("SELECT max(id) AS id FROM message").first([]) { $0.integer("id") })
        let own = try send("Good moror")
        for row in [theirs, own, own + 1000] { try keep("Good morrow", of: row) }
        try importMailbox()
        #expect(try displayed()?.message == own)
        try harness.directory.share(Retract(.row(own)))
        try importMailbox()
        #expect(try displayed() == nil)
    }
}
