import Foundation
import KalijAddress
import KalijLab
import KalijRatchet
import KalijXML
import TestSupport
import Testing

@testable import KalijEngine
@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore
import KalijStore

/// What a queued message waits for, and that the reason ends with its cause.
struct WaitReasonTests {
    private static let romeo = "romeo@example.net"

    @Test(
        "the mailbox is before the driver, the driver before the features, the features before the archive",
        arguments: [
            (true, false, true, WaitReason.room(nil), WaitReason.driver),
            (false, false, true, .room(nil), .connection(nil)),
            (false, true, true, .room(Reason(other: "full")), .room(Reason(other: "full"))),
            (false, true, true, nil, .archive),
            (false, true, false, .keys(nil), .keys(nil)), (false, true, false, nil, .nothing),
        ] as [(Bool, Bool, Bool, WaitReason?, WaitReason)])
    func order(_ isInMailbox: Bool, _ isDriven: Bool, _ isHeld: Bool, _ feature: WaitReason?, _ reason: WaitReason) {
        #expect(
            WaitReason(isInMailbox: isInMailbox, isDriven: isDriven, isHeld: isHeld, feature: feature) == reason)
    }

    @Test("without a connection nothing else can end; a message in the mailbox has not reached the connection")
    func connection() {
        var state = AccountState(at: 1)
        for reason: WaitReason in [.archive, .keys(nil), .decision, .room(nil), .earlier, .nothing, .connection(nil)] {
            #expect(reason.over(state) == .connection(nil) && reason.over(nil) == reason)
        }
        #expect(WaitReason.driver.over(state) == .driver)
        let account = JID.received("juliet@example.org")
        let offline = Offline(reason: Reason(other: "no route"), retryIn: 2)
        _ = state.apply(EngineEvent(account: account, at: 2, content: offline))
        #expect(WaitReason.nothing.over(state) == .connection(Reason(other: "no route")))
        #expect(WaitReason.connection(Reason(other: "no route")).details == "no route")
        _ = state.apply(EngineEvent(account: account, at: 3, content: Online(jid: "x", resumed: false)))
        #expect(WaitReason.room(Reason(other: "full")).over(state) == .room(Reason(other: "full")))
    }

    @Test("what cannot be stored has a code, also as told to another process")
    func storage() throws {
        let account = JID.received("juliet@example.org")
        var state = AccountState(at: 1)
        for (code, reason) in [(StoreError.Code.full, Reason.Code.diskFull), (.corrupt, .notStored)] {
            _ = state.apply(
                EngineEvent(
                    account: account, at: 2, content: WaitingForStorage(StoreError(code, "no room"), retryIn: 1)))
            #expect(state.storageProblem?.code == reason)
            #expect(try JSONDecoder().decode(AccountState.self, from: JSONEncoder().encode(state)) == state)
        }
        _ = state.apply(EngineEvent(account: account, at: 3, content: StorageAvailable()))
        #expect(state.storageProblem == nil)
    }

    // MARK: Without a network, in the process that drives

    private func reasons(_ harness: StepHarness, with peer: String = romeo) throws -> [WaitReason?] {
        let conversations = Conversations(reading: harness.database, of: harness.account, clock: harness.clock.clock)
        let page = try conversations.page(with: try JID(peer), limit: 9, mailbox: harness.directory)
        let messages = try #require(page).messages.filter { $0.direction == .outgoing }
        // The list and the history have the same reasons.
        let last = try conversations.conversation(with: try JID(peer)).last
        if messages.last.map({ $0.id > 0 }) ?? false { #expect(last?.waitsFor == messages.last?.waitsFor) }
        let history = try HistoryReader(harness.database).messages(of: harness.account, with: JID(peer), limit: 9)
        let stored = messages.filter { $0.id > 0 }.map(\.waitsFor)
        #expect(history.filter { $0.direction == .outgoing }.map(\.waitsFor) == stored)
        return messages.map(\.waitsFor)
    }

    @Test("a message in the mailbox waits for the driver to import it; one that is sent waits for nothing")
    func driver() throws {
        let harness = try StepHarness.caughtUp()
        try harness.accept("one")
        _ = try harness.directory.share("two", to: try JID(Self.romeo), clock: harness.clock.clock)
        #expect(try reasons(harness) == [.nothing, .driver])
        try harness.write()
        #expect(try reasons(harness) == [nil, .driver])
    }

    @Test("a message accepted while the archive decides on an earlier one waits for the archive")
    func archive() throws {
        let harness = try StepHarness.caughtUp()
        try harness.accept("one")
        try harness.write()
        try harness.bind(resumeID: "session-2", answered: .all)
        try harness.accept("two")
        #expect(try reasons(harness) == [nil, .archive])
        try harness.perform { step in
            _ = try OutboundQueue(database: step.database, account: step.account.id).release()
        }
        #expect(try reasons(harness) == [nil, .nothing])
    }

    @Test("an encrypted message waits for keys: requested, unavailable, of this device; and for the user's decision")
    func keys() throws {
        let harness = try StepHarness.caughtUp()
        try harness.publishKeys()
        try harness.encrypt()
        try harness.accept("But soft")
        try harness.accept("what light")
        #expect(try reasons(harness) == [.keys(nil), .keys(nil)])
        _ = try harness.leave()
        try refuse(harness, "omemo.list", "remote-server-timeout")
        _ = try harness.leave()
        guard case .keys(let problem?)? = try reasons(harness).first else {
            Issue.record("the reason is \(try reasons(harness))")
            return
        }
        #expect(!problem.isEmpty)
        try harness.perform { try OwnDevice.set(isOpen: false, in: $0) }
        let closed = try reasons(harness)
        #expect(closed.allSatisfy { if case .keys? = $0 { $0 != .keys(problem) } else { false } }, "\(closed)")
        try harness.perform { try OwnDevice.set(isRead: false, in: $0) }
        #expect(try reasons(harness) == [.archive, .archive])
        try harness.perform { step in
            try OwnDevice.set(isRead: true, in: step)
            try OwnDevice.set(isOpen: true, in: step)
            try ConversationEncryption(step: step).block(Self.romeo)
        }
        #expect(try reasons(harness) == [.decision, .decision])
        let plain = EncryptConversation(try JID(Self.romeo), false)
        try harness.perform { _ = try Intents(step: $0).perform(plain, id: "plain") }
        _ = try harness.leave()
        #expect(try reasons(harness).allSatisfy { $0 != .decision })
    }

    private func refuse(_ harness: StepHarness, _ handler: String, _ condition: String) throws {
        let ids = try harness.database.prepare("SELECT id FROM request WHERE name = ?").all([.text(handler)]) {
            $0.text()
        }
        for id in ids {
            try harness.receive(
                """
                <iq type='error' id='\(id)' from='\(Self.romeo)'><error type='wait'>\
                <\(condition) xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></iq>
                """)
        }
    }

    @Test("a message to a room waits until the account is in it, then for the outcome of an earlier message")
    func room() throws {
        let room = try RoomHarness()
        func reasons() throws -> [WaitReason?] { try self.reasons(room.harness, with: RoomHarness.room) }
        try room.accept("zero")
        #expect(try reasons() == [.room(nil)])
        try room.describe(RoomHarness.group + ["urn:xmpp:mam:2"])
        try room.enter()
        #expect(try reasons() == [.room(nil)])
        try room.subject()
        try room.readToEnd()
        #expect(try reasons() == [.nothing])
        try room.say("before", stamp: "r1")
        try room.send()
        #expect(try reasons() == [nil])
        try room.bindAnew()
        try room.accept("one")
        #expect(try reasons() == [nil, .earlier])
        try room.readToEnd([("r1", "before")])
        #expect(try reasons().last == .nothing)
    }

    @Test("the reason for which a room is not entered is among the words")
    func closedRoom() throws {
        let room = try RoomHarness()
        try room.accept("zero")
        try room.harness.database.execute("UPDATE room SET reason = 'full'")
        let reason = try #require(try reasons(room.harness, with: RoomHarness.room).first ?? nil)
        #expect(reason == .room(Reason(other: "full")) && reason.details == "full")
    }

    @Test("JSON has the word and the details, and a person's line both; what is about to be sent is only queued")
    func fields() throws {
        let harness = try StepHarness.caughtUp()
        let message = try harness.accept("one")
        func shown(_ reason: WaitReason) -> [String] {
            var waiting = message
            waiting.waitsFor = reason
            let fields = waiting.fields.filter { ["waits_for", "wait_reason"].contains($0.key.name) }
            return fields.map { "\($0.value)" } + ["\(waiting.line)"]
        }
        #expect(
            shown(.connection(Reason(other: "no route"))) == [
                "text(\"connection\")", "text(\"no route\")",
                "to romeo@example.net [queued] (waits for a connection: no route): one",
            ])
        #expect(shown(.nothing) == ["text(\"nothing\")", "to romeo@example.net [queued]: one"])
        #expect(message.waitsFor == nil && !message.fields.contains { $0.key.name == "waits_for" })
    }

    // MARK: On a running engine

    @Test("the driver reports why there is no connection; with one the message leaves")
    func engine() async throws {
        let server = try ScriptedServer("idle")
        server.stop()
        let drive = try EngineFixture(server)
        #expect(DriverReport(of: drive.directory) == nil)
        try drive.accept("hello")
        func reason() throws -> WaitReason? {
            let conversations = try Conversations(drive.directory, report: DriverReport(of: drive.directory))
            return try conversations.page(with: JID("romeo@localhost"), limit: 9)?.messages.first?.waitsFor
        }
        #expect(try reason() == .connection(nil))
        let engine = try await Engine.start(
            role: .main, in: drive.directory, options: Engine.Options(timing: EngineFixture.timing))
        try await hold { if case .connection(.some)? = try reason() { true } else { false } }
        try await engine.stop()
        #expect(try reason() == .connection(nil))
    }

    @Test("what has left waits for nothing")
    func online() async throws {
        let server = try ScriptedServer("idle")
        let drive = try EngineFixture(server)
        let engine = try await Engine.start(
            role: .main, in: drive.directory, options: Engine.Options(timing: EngineFixture.timing))
        try await hold { DriverReport(of: drive.directory)?.state(of: try JID("juliet@localhost"))?.stage == .online }
        try drive.accept("hello")
        try await engine.stop()
    }

    /// Waits until `isTrue`.
    private func hold(_ isTrue: () throws -> Bool) async throws {
        for _ in 0..<Int(hangLimit * 20) {
            if try isTrue() { return }
            try await sleep(for: .milliseconds(50))
        }
        Issue.record("that has not become true")
    }
}
