import KalijAddress
import KalijHandlers
import KalijXML
import Testing

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// The steps of an upload (XEP-0363).
struct UploadTests {
    static let romeo = "romeo@example.net"
    static let service = "upload.example.org"

    /// A session whose server has an upload service.
    func online(limit: Int = 1_000_000) throws -> StepHarness {
        let harness = try StepHarness.caughtUp()
        try harness.database.execute(
            """
            INSERT INTO upload_service(account, jid, max_size, asking, asked_at, found)
            VALUES (1, '\(Self.service)', \(limit), 0, \(StepHarness.noon), 1)
            """)
        return harness
    }

    @discardableResult
    func send(
        _ harness: StepHarness, id: String = "f", size: Int64 = 3, text: String? = nil,
        privacy: EncryptionPreference = .asConversation
    ) throws -> Step.Effects {
        let description = FileDescription(
            name: "cat.jpg", type: "image/jpeg", size: size, sha256: [UInt8](repeating: 1, count: 32))
        return try harness.want(
            SendFile(
                to: try JID(Self.romeo), file: "file-\(id)", description, text: text, textID: text.map { _ in "t" },
                privacy: privacy), id: id)
    }

    func row(_ harness: StepHarness, _ id: String = "f") throws -> UploadRow? {
        try UploadRows(database: harness.database, account: harness.account.id).row(for: id)
    }

    @discardableResult
    func step(_ harness: StepHarness, _ body: (Uploads) throws -> Void) throws -> Step.Effects {
        try harness.runner.run("upload", for: harness.account) { try body(Uploads(step: $0)) }
    }

    func begin(_ harness: StepHarness, _ id: String = "f") throws {
        let row = try #require(try row(harness, id))
        try step(harness) { try $0.begin(row.id) }
    }

    /// The service answers the last request.
    @discardableResult
    func answer(_ harness: StepHarness, _ content: String, type: String = "result") throws -> Step.Effects {
        let id = try #require(try harness.waiting(UploadSlotResponse.name).last)
        return try harness.receive(
            "<iq type='\(type)' id='\(id)' from='\(Self.service)' to='juliet@example.org/balcony'>\(content)</iq>")
    }

    static let slot = """
        <slot xmlns='urn:xmpp:http:upload:0'><put url='https://up.example.org/1'/><get url='https://down.example.org/1'/></slot>
        """

    func finish(_ harness: StepHarness, _ id: String = "f") throws -> Step.Effects {
        try begin(harness, id)
        try answer(harness, Self.slot)
        let row = try #require(try row(harness, id))
        try step(harness) { try $0.handle(.seal, row.id) }
        return try step(harness) { try $0.handle(.put(.status(201, retryAfter: nil)), row.id) }
    }

    /// The file is linked under its name, as the driver does after the message was stored.
    func link(_ harness: StepHarness, as name: String?) throws {
        let rows = ReceivedFileRows(database: harness.database)
        for file in try rows.unnamed(of: harness.account.id, limit: 100) {
            _ = try harness.runner.run("download", for: harness.account) {
                try ReceivedFiles(step: $0).linked(file, as: name)
            }
        }
    }

    func page(_ harness: StepHarness) throws -> ConversationPage {
        let reader = Conversations(reading: harness.database, of: harness.account)
        return try #require(try reader.page(with: try JID(Self.romeo), limit: 30))
    }

    // MARK: The way

    @Test("a file is asked for with its name, size and type, and its message is queued with the address in one step")
    func way() throws {
        let harness = try online()
        try send(harness, text: "my cat")
        #expect(try harness.history() == [])
        try begin(harness)
        let request = try harness.request(try #require(try harness.waiting(UploadSlotResponse.name).last))
        let asked = try #require(request.child("request", "urn:xmpp:http:upload:0"))
        #expect([asked["filename"], asked["size"], asked["content-type"]] == ["cat.jpg", "3", "image/jpeg"])
        try answer(harness, Self.slot)
        #expect(try row(harness)?.plan.stage == .putting)
        let id = try #require(try row(harness)).id
        try step(harness) { try $0.handle(.seal, id) }
        let effects = try step(harness) { try $0.handle(.put(.status(201, retryAfter: nil)), id) }
        #expect(effects.isSignalled(FilesFeature.self) && effects.queued)
        let bodies = try harness.write().map { try Element.parse($0.stanza) }.filter { $0.name == "message" }
            .map { $0.child("body")?.text }
        #expect(bodies == ["https://down.example.org/1", "my cat"])
        #expect(try harness.outcome("f") == .pending)
    }

    @Test("once the server has the message, the copy leaves the disk, and the file stays under its name")
    func acknowledged() throws {
        let harness = try online()
        try send(harness)
        _ = try finish(harness)
        try link(harness, as: "in/1/cat.jpg")
        #expect(try FileDeletionQueue.some(in: harness.database).isEmpty)
        _ = try harness.write()
        try harness.acknowledgeAll()
        #expect(try row(harness) == nil)
        #expect(try FileDeletionQueue.some(in: harness.database).map(\.name) == ["out/file-f"])
        #expect(try harness.outcome("f") == .done)
    }

    @Test("texts accepted after a file do not wait for it, and stand before it")
    func order() throws {
        let harness = try online()
        try send(harness)
        _ = try harness.accept("later")
        _ = try finish(harness)
        let bodies = try harness.write().map { try Element.parse($0.stanza) }.compactMap { $0.child("body")?.text }
        #expect(bodies == ["later", "https://down.example.org/1"])
    }

    @Test("the same file accepted twice under an id is sent once")
    func once() throws {
        let harness = try online()
        for _ in 0..<2 { try send(harness) }
        _ = try finish(harness)
        for _ in 0..<2 { try send(harness) }
        #expect(try harness.number("SELECT count(*) FROM upload") == 1)
        #expect(try harness.number("SELECT count(*) FROM message WHERE direction = 'out'") == 1)
    }

    // MARK: Failures

    @Test("a file over the service's limit has failed, as a message with the reason; the file stays for a week")
    func tooLarge() throws {
        let harness = try online(limit: 10)
        try send(harness, size: 11)
        try begin(harness)
        let message = try #require(try Message.accepted("f", by: harness.account, in: harness.database))
        #expect(message.state == .failed && message.error == Reason(.fileTooLarge, "10"))
        #expect(try harness.number("SELECT count(*) FROM event WHERE kind = 'failed'") == 1)
        guard case .failed? = try harness.outcome("f") else { return #expect(Bool(false), "not failed") }
        #expect(try FileDeletionQueue.some(in: harness.database).isEmpty)
        harness.clock.move(by: 8 * 86_400_000)
        try step(harness) { try $0.forgetFailed() }
        #expect(try FileDeletionQueue.some(in: harness.database).map(\.name) == ["out/file-f"])
    }

    @Test("`retry` takes a message back from `failed`: the message that follows is the only one with the id")
    func retry() throws {
        let harness = try online(limit: 10)
        try send(harness, size: 11)
        try begin(harness)
        try harness.database.execute("UPDATE upload_service SET max_size = 100")
        let before = try harness.number("SELECT messages FROM session")
        try harness.want(RetryUpload("f"), id: "again")
        #expect(try harness.outcome("again") == .done)
        #expect(try Message.accepted("f", by: harness.account, in: harness.database) == nil)
        _ = try finish(harness)
        #expect(try Message.accepted("f", by: harness.account, in: harness.database)?.state == .queued)
        #expect(try harness.number("SELECT count(*) FROM message WHERE origin_id = 'f'") == 1)
        #expect(try harness.number("SELECT messages FROM session") == before)
    }

    @Test("`cancel` gives a file up until its message is queued")
    func cancel() throws {
        let harness = try online()
        try send(harness)
        try begin(harness)
        try harness.want(CancelUpload("f"), id: "stop")
        #expect(try harness.outcome("stop") == .done && harness.outcome("f") == .failed("cancelled"))
        #expect(try row(harness) == nil && FileDeletionQueue.some(in: harness.database).count == 1)
        // The late slot is nobody's.
        try answer(harness, Self.slot)
        try send(harness, id: "g")
        _ = try finish(harness, "g")
        try harness.want(CancelUpload("g"), id: "late")
        guard case .failed? = try harness.outcome("late") else { return #expect(Bool(false), "cancelled") }
    }

    @Test(
        "XEP-0363 section 5: errors of the service",
        arguments: [
            ("not-acceptable", "wait", "failed"), ("forbidden", "wait", "failed"), ("not-allowed", "wait", "failed"),
            ("resource-constraint", "wait", "waiting"), ("internal-server-error", "wait", "waiting"),
            ("service-unavailable", "wait", "waiting"), ("bad-request", "wait", "waiting"),
            ("bad-request", "modify", "failed"),
        ])
    func errors(_ condition: String, _ type: String, _ state: String) throws {
        let harness = try online()
        try send(harness)
        try begin(harness)
        try answer(
            harness,
            """
            <error type='\(type)'><\(condition) xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/>\
            <retry xmlns='urn:xmpp:http:upload:0' stamp='2026-11-21T12:10:00Z'/></error>
            """, type: "error")
        let plan = try #require(try row(harness)).plan
        #expect(plan.stage.rawValue == state)
        if condition == "resource-constraint" { #expect(plan.notBefore == StepHarness.noon + 600_000) }
    }

    @Test("a slot that makes no sense is asked for again later; a lost session, at once")
    func lost() throws {
        let harness = try online()
        try send(harness)
        try begin(harness)
        try answer(harness, "<slot xmlns='urn:xmpp:http:upload:0'><put url='http://up'/><get url='x'/></slot>")
        #expect(try #require(try row(harness)).plan.notBefore > StepHarness.noon)
        try harness.want(RetryUpload("f"), id: "now")
        try begin(harness)
        _ = try harness.write()
        try harness.bind(answered: .all)
        #expect(try #require(try row(harness)).plan == UploadPlan(waitingAfter: try #require(try row(harness)).plan))
    }

    @Test("nobody says whether there is a service: asked again after a minute, then two, and by a new file at once")
    func silence() throws {
        let harness = try StepHarness.caughtUp()
        try send(harness)
        for pause in [60_000, 120_000, 240_000] as [Int64] {
            try begin(harness)
            #expect(try harness.waiting("discovery.items").count == 1)
            harness.clock.move(by: 3_600_000)
            _ = try harness.letExpire()
            let plan = try #require(try row(harness)).plan
            #expect(plan.notBefore - harness.runner.steadyNow == pause)
            #expect(plan.reason == "no-upload-service: the server does not answer")
            harness.clock.move(by: pause)
        }
        try send(harness, id: "g")
        try begin(harness, "g")
        #expect(try harness.waiting("discovery.items").count == 1)
        let id = try #require(try harness.waiting("discovery.items").first)
        let items = "<query xmlns='http://jabber.org/protocol/disco#items'><item jid='\(Self.service)'/></query>"
        try harness.receive(
            "<iq type='result' id='\(id)' from='example.org' to='juliet@example.org/balcony'>\(items)</iq>")
        let question = try #require(try harness.waiting("discovery.info").last)
        try harness.receive(
            """
            <iq type='result' id='\(question)' from='\(Self.service)' to='juliet@example.org/balcony'>\
            <query xmlns='http://jabber.org/protocol/disco#info'><feature var='urn:xmpp:http:upload:0'/></query></iq>
            """)
        #expect(try row(harness)?.plan == UploadPlan() && row(harness, "g")?.plan == UploadPlan())
    }

    @Test("a process that begins puts nothing: what was not sealed begins again, what was sealed is looked for")
    func newProcess() throws {
        let harness = try online()
        for id in ["f", "g"] {
            try send(harness, id: id)
            try begin(harness, id)
            try answer(harness, Self.slot)
        }
        let sealed = try #require(try row(harness, "g")).id
        try step(harness) { try $0.handle(.seal, sealed) }
        try step(harness) { try $0.processBegan() }
        #expect(try row(harness, "f")?.plan.stage == .waiting)
        #expect(try row(harness, "g")?.plan.stage == .sealed)
    }

    // MARK: Encryption

    @Test("rule 11: in an encrypted conversation a random name, no type, 16 bytes more, and an aesgcm address alone")
    func encrypted() throws {
        let harness = try online()
        try harness.want(EncryptConversation(try JID(Self.romeo), true), id: "encrypt")
        try send(harness)
        try begin(harness)
        let request = try harness.request(try #require(try harness.waiting(UploadSlotResponse.name).last))
        let asked = try #require(request.child("request", "urn:xmpp:http:upload:0"))
        #expect([asked["size"], asked["content-type"]] == ["19", "application/octet-stream"])
        #expect(asked["filename"]?.hasSuffix(".jpg") ?? false && !(asked["filename"]?.contains("cat") ?? true))
        try answer(harness, Self.slot)
        let row = try #require(try row(harness))
        try step(harness) { try $0.handle(.seal, row.id) }
        try step(harness) { try $0.handle(.put(.status(201, retryAfter: nil)), row.id) }
        let message = try #require(try Message.accepted("f", by: harness.account, in: harness.database))
        #expect(message.body?.hasPrefix("aesgcm://down.example.org/1#") ?? false)
        #expect(message.body?.count == "aesgcm://down.example.org/1#".count + 88)
    }

    @Test("a conversation that is encrypted while a file is uploaded: the file is sent once more, encrypted")
    func encryptedMeanwhile() throws {
        let harness = try online()
        try send(harness)
        try begin(harness)
        try answer(harness, Self.slot)
        try harness.want(EncryptConversation(try JID(Self.romeo), true), id: "encrypt")
        let row = try #require(try row(harness))
        try step(harness) { try $0.handle(.seal, row.id) }
        try step(harness) { try $0.handle(.put(.status(201, retryAfter: nil)), row.id) }
        let again = try #require(try self.row(harness))
        #expect(again.plan.stage == .waiting && again.key?.count == 44)
        #expect(try Message.accepted("f", by: harness.account, in: harness.database) == nil)
    }

    // MARK: Ends

    @Test("after a logout no file is left, and every file has its outcome")
    func loggedOut() throws {
        let harness = try online()
        for id in ["f", "g"] { try send(harness, id: id) }
        _ = try harness.runner.run("logout", for: harness.account) { try FilesFeature.didLogOut(in: $0) }
        #expect(try harness.number("SELECT count(*) FROM upload") == 0)
        #expect(try FileDeletionQueue.some(in: harness.database).map(\.name) == ["out/file-f", "out/file-g", "in/1"])
        guard case .failed? = try harness.outcome("f") else { return #expect(Bool(false), "no outcome") }
    }

    @Test("an intent from outside names no path", arguments: ["../kalij.db", "a/b", "", "A", "x.part", "a b"])
    func names(_ name: String) throws {
        let harness = try online()
        let description = FileDescription(size: 1, sha256: [UInt8](repeating: 0, count: 32))
        let intent = SendFile(
            to: try JID(Self.romeo), file: name, description, text: nil, textID: nil, privacy: .plain)
        #expect(throws: IntentFailure.self) { try intent.check() }
        try harness.want(intent, id: "f")
        #expect(try row(harness) == nil)
    }
}

extension UploadPlan {
    /// The plan of a file that waits for nothing, and has counted what `plan` has.
    fileprivate init(waitingAfter plan: UploadPlan) {
        self = plan
        (stage, slot, reason, notBefore) = (.waiting, nil, nil, 0)
    }
}
