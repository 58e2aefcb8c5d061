import KalijAddress
import KalijXML
import Testing

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// Files of received messages: which are fetched unasked, and what becomes of them.
struct ReceivedFileTests {
    private static let romeo = "romeo@example.net"
    private static let key = String(repeating: "0123456789abcdef", count: 5) + "01234567"

    private func message(_ id: String, size: Int? = 1000, from sender: String = romeo, type: String = "chat") -> String
    {
        let file =
            size.map { "<file xmlns='urn:xmpp:file:metadata:0'><name>cat.jpg</name><size>\($0)</size></file>" } ?? ""
        return """
            <message from='\(sender)/orchard' to='juliet@example.org' type='\(type)' id='\(id)'>\
            <body>https://example.net/\(id)</body><x xmlns='jabber:x:oob'><url>https://example.net/\(id)</url></x>\
            <file-sharing xmlns='urn:xmpp:sfs:0'>\(file)<sources/></file-sharing></message>
            """
    }

    private func file(_ id: String, _ harness: StepHarness) throws -> MessageFile? {
        let row = try #require(try harness.number("SELECT id FROM message WHERE message_id = '\(id)'"))
        return try Message.load(row, from: harness.database)?.withFile(in: harness.database).file
    }

    @discardableResult
    private func step(_ harness: StepHarness, _ body: (ReceivedFiles) throws -> Void) throws -> Step.Effects {
        try harness.runner.run("download", for: harness.account) { try body(ReceivedFiles(step: $0)) }
    }

    // MARK: Unasked

    @Test("rule 13: unasked only from people whom the user has written to, and of known length up to 1 MiB")
    func automatic() throws {
        let harness = try StepHarness.caughtUp()
        try harness.receive(message("stranger"))
        #expect(try file("stranger", harness)?.state == .offered)
        _ = try harness.accept("hello", to: Self.romeo)
        let effects = try harness.receive(message("small"))
        #expect(try file("small", harness)?.state == .wanted)
        #expect(effects.isSignalled(FilesFeature.self))
        try harness.receive(message("large", size: 1 << 21))
        #expect(try file("large", harness)?.state == .offered)
        try harness.receive(message("unknown", size: nil))
        #expect(try file("unknown", harness)?.state == .offered)
        try harness.receive(message("exact", size: 1 << 20))
        #expect(try file("exact", harness)?.state == .wanted)
    }

    @Test("nothing is fetched unasked if the user has said so, for a contact or for all")
    func notAutomatic() throws {
        let harness = try StepHarness.caughtUp()
        _ = try harness.accept("hello", to: Self.romeo)
        var settings = ChangeSettings(for: try JID(Self.romeo))
        settings.downloads = false
        try harness.want(settings, id: "off")
        try harness.receive(message("off"))
        #expect(try file("off", harness)?.state == .offered)
    }

    @Test("the file is told with the message, in JSON and for people; no key is shown to people")
    func told() throws {
        let harness = try StepHarness.caughtUp()
        let effects = try harness.receive(message("a"))
        let stored = effects.events.compactMap { $0.content as? MessageStored }
        let told = try #require(stored.first)
        #expect(told.message.file?.size == 1000)
        #expect("\(told.message.line)".contains("(file cat.jpg, 1000 bytes, not fetched)"))
        try harness.receive(
            """
            <message from='\(Self.romeo)/orchard' to='juliet@example.org' type='chat' id='secret'>\
            <body>aesgcm://example.net/b.jpg#\(Self.key)</body></message>
            """)
        let row = try #require(try harness.number("SELECT id FROM message WHERE message_id = 'secret'"))
        let secret = try #require(try Message.load(row, from: harness.database))
        #expect(!"\(secret.line)".contains(Self.key))
        #expect(try secret.withFile(in: harness.database).file?.isEncrypted ?? false)
    }

    // MARK: Wanted

    @Test("`download`: the outcome is the file's; a stored file is done at once")
    func wanted() throws {
        let harness = try StepHarness.caughtUp()
        try harness.receive(message("a"))
        let row = try #require(try harness.number("SELECT id FROM message WHERE message_id = 'a'"))
        try harness.want(Download(.row(row)), id: "d")
        #expect(try harness.outcome("d") == .pending)
        #expect(try file("a", harness)?.state == .wanted)
        try step(harness) { try $0.stored(row, at: "in/1/cat.jpg") }
        #expect(try harness.outcome("d") == .done)
        #expect(try file("a", harness)?.path == harness.directory.path + "/files/in/1/cat.jpg")
        try harness.want(Download(.row(row)), id: "again")
        #expect(try harness.outcome("again") == .done)
        let text = try harness.receive(
            "<message from='\(Self.romeo)/x' id='t' type='chat'><body>no file</body></message>")
        let rows = text.events.compactMap { ($0.content as? MessageStored)?.message.id }
        let none = try #require(rows.first)
        try harness.want(Download(.row(none)), id: "none")
        guard case .failed? = try harness.outcome("none") else { return #expect(Bool(false), "not failed") }
    }

    @Test("a file that cannot be fetched now is tried ten times, later each time; then the user has to ask again")
    func later() throws {
        let harness = try StepHarness.caughtUp()
        try harness.receive(message("a"))
        let row = try #require(try harness.number("SELECT id FROM message WHERE message_id = 'a'"))
        try harness.want(Download(.row(row)), id: "d")
        var waits: [Int64] = []
        for _ in 0..<9 {
            try step(harness) { try $0.later(row, "cut") }
            waits.append(try #require(try ReceivedFileRows(database: harness.database).row(of: row)).notBefore)
        }
        #expect(waits.sorted() == waits)
        #expect(waits.first == StepHarness.noon + 1000)
        #expect(try harness.outcome("d") == .pending)
        try step(harness) { try $0.later(row, "cut") }
        #expect(try harness.outcome("d") == .failed("cut"))
        #expect(try file("a", harness)?.state == .failed)
    }

    // MARK: Gone

    @Test("a forgotten, retracted or logged-out message's file leaves the disk")
    func gone() throws {
        let harness = try StepHarness.caughtUp()
        for id in ["a", "b"] {
            try harness.receive(message(id))
            let row = try #require(try harness.number("SELECT id FROM message WHERE message_id = '\(id)'"))
            try harness.want(Download(.row(row)), id: "d-\(id)")
            try step(harness) { try $0.stored(row, at: "in/1/\(id).jpg") }
        }
        let row = try #require(try harness.number("SELECT id FROM message WHERE message_id = 'a'"))
        try harness.want(Forget(.row(row)), id: "forget")
        try harness.receive(
            """
            <message from='\(Self.romeo)/orchard' type='chat' id='r'><retract xmlns='urn:xmpp:message-retract:1' id='b'/>\
            <store xmlns='urn:xmpp:hints'/></message>
            """)
        #expect(try FileDeletionQueue.some(in: harness.database).map(\.name) == ["in/1/a.jpg", "in/1/b.jpg"])
        #expect(try harness.number("SELECT count(*) FROM attachment") == 0)
    }

    @Test("a cancelled download is offered again, and its intent has failed")
    func cancelled() throws {
        let harness = try StepHarness.caughtUp()
        try harness.receive(message("a"))
        let row = try #require(try harness.number("SELECT id FROM message WHERE message_id = 'a'"))
        try harness.want(Download(.row(row)), id: "d")
        try harness.want(CancelDownload(.row(row)), id: "c")
        #expect(try file("a", harness)?.state == .offered)
        guard case .failed? = try harness.outcome("d") else { return #expect(Bool(false), "it goes on") }
        try harness.want(CancelDownload(.row(row)), id: "again")
        guard case .failed? = try harness.outcome("again") else { return #expect(Bool(false), "nothing to cancel") }
    }

    @Test("a correction takes the file away; an encrypted message that could be read after all has one")
    func otherText() throws {
        let harness = try StepHarness.caughtUp()
        try harness.receive(message("a"))
        try harness.receive(
            """
            <message from='\(Self.romeo)/orchard' to='juliet@example.org' type='chat' id='c'><body>no file</body>\
            <replace xmlns='urn:xmpp:message-correct:0' id='a'/></message>
            """)
        #expect(try file("a", harness) == nil)
        let row = try #require(try harness.number("SELECT id FROM message WHERE message_id = 'a'"))
        try step(harness) { try $0.textChanged(of: row, from: nil, to: "aesgcm://example.net/b.jpg#\(Self.key)") }
        #expect(try file("a", harness)?.state == .offered)
    }

    @Test("a file that was stored while its message was forgotten leaves the disk")
    func storedTooLate() throws {
        let harness = try StepHarness.caughtUp()
        try harness.receive(message("a"))
        let row = try #require(try harness.number("SELECT id FROM message WHERE message_id = 'a'"))
        try harness.want(Forget(.row(row)), id: "forget")
        try step(harness) { try $0.stored(row, at: "in/1/a.jpg") }
        #expect(try FileDeletionQueue.some(in: harness.database).map(\.name) == ["in/1/a.jpg"])
    }

    @Test("cleared files leave the disk and can be fetched again; what is not stored stays")
    func cleared() throws {
        let harness = try StepHarness.caughtUp()
        _ = try harness.accept("hello", to: Self.romeo)
        for id in ["a", "b", "wanted"] { try harness.receive(message(id)) }
        for id in ["a", "b"] {
            let row = try #require(try harness.number("SELECT id FROM message WHERE message_id = '\(id)'"))
            try step(harness) { try $0.stored(row, at: "in/1/\(id).jpg") }
        }
        let rows = ReceivedFileRows(database: harness.database)
        #expect(try rows.stored(of: harness.account.id).bytes == 2000)
        try harness.want(ClearDownloads(), id: "clear")
        #expect(try harness.outcome("clear") == .done)
        #expect(try ["a", "b", "wanted"].map { try file($0, harness)?.state } == [.offered, .offered, .wanted])
        #expect(try file("a", harness)?.path == nil)
        #expect(try FileDeletionQueue.some(in: harness.database).map(\.name) == ["in/1/b.jpg", "in/1/a.jpg"])
        #expect(try rows.stored(of: harness.account.id).count == 0)
        let row = try #require(try harness.number("SELECT id FROM message WHERE message_id = 'a'"))
        try harness.want(Download(.row(row)), id: "again")
        #expect(try file("a", harness)?.state == .wanted)
    }

    @Test("many files are cleared in several steps; one that is fetched in between stays, and the command ends once")
    func clearedInParts() throws {
        let harness = try StepHarness.caughtUp()
        _ = try harness.accept("hello", to: Self.romeo)
        for id in 0..<450 { try harness.receive(message("m\(id)")) }
        let ids = try harness.database.statement("SELECT id FROM message WHERE message_id LIKE 'm%' ORDER BY id")
            .all { $0.integer() }
        for id in ids { try step(harness) { try $0.stored(id, at: "in/1/\(id).jpg") } }
        let rows = ReceivedFileRows(database: harness.database)
        try harness.want(ClearDownloads(), id: "clear")
        #expect(try harness.outcome("clear") == .pending)
        #expect(try rows.stored(of: harness.account.id).count == 250)
        try step(harness) { try $0.stored(ids[449], at: "in/1/again.jpg") }
        while try harness.steps.due() != nil {}
        #expect(try harness.outcome("clear") == .done)
        #expect(try rows.stored(of: harness.account.id).count == 1)
        #expect(try harness.number("SELECT count(*) FROM file_garbage") == 450)
    }
}
