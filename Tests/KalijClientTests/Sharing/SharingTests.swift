import Foundation
import KalijAddress
import KalijCoordination
import KalijStore
import Testing

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// "What `share` commits is a row of the mailbox database; the driver moves it over in a step."
@Suite struct SharingTests {
    private let harness: StepHarness
    private let store: MailboxQueue

    init() throws {
        harness = try StepHarness.online()
        try harness.acknowledgeAll()
        store = try Mailbox(directory: harness.directory.path).parcels
    }

    private var taking: MailboxImporter { MailboxImporter(runner: harness.runner, store: store) }

    @discardableResult
    private func share(_ body: String) throws -> Message {
        try harness.directory.share(body, to: try JID("romeo@example.net"), clock: harness.clock.clock)
    }

    /// The lines of `kalij history`.
    private func history() throws -> [String] {
        try HistoryReader(harness.directory).messages(of: harness.account, with: nil, limit: 100).map {
            "\($0.body ?? "-") \($0.state?.rawValue ?? "-")"
        }
    }

    @Test("shared messages wait as queued; the driver moves them over, in order, once")
    func moved() throws {
        let messages = [try share("one"), try share("two")]
        #expect(messages.allSatisfy { $0.id < 0 && $0.state == .queued && $0.from == "juliet@example.org" })
        #expect(try harness.history().isEmpty && history() == ["one queued", "two queued"])
        let status = try #require(try StatusReader(harness.directory, harness.database).accounts().first)
        #expect(status.queuedMessages == 2 && status.messagesInMailbox == 2)

        var told: [String] = []
        harness.clock.move(by: 5000)
        try taking.run { account, effects in
            #expect(account.jid == harness.account.jid && effects.queued)
            told += effects.told
        }
        #expect(told == ["one is queued", "two is queued"])
        #expect(try harness.queue() == ["message chat one", "message chat two"])
        #expect(try history() == ["one queued", "two queued"])
        let stored = try HistoryReader(harness.database).messages(of: harness.account, with: nil, limit: 9)
        #expect(
            stored.map(\.originID) == messages.map(\.originID)
                && stored.map(\.sentAt) == [StepHarness.noon, StepHarness.noon])
        #expect(try !store.hasParcels(after: 0) && !taking.hasItems)
        try taking.run { _, _ in Issue.record("taken over again") }
        let after = try #require(try StatusReader(harness.directory, harness.database).accounts().first)
        #expect(after.queuedMessages == 2 && after.messagesInMailbox == 0)
    }

    @Test("a shared message that was the draft ends the draft when it is taken over, in the same step")
    func endsDraft() throws {
        let romeo = try JID("romeo@example.net")
        func draft() throws -> String? {
            try Draft.load(for: "romeo@example.net", of: harness.account.id, in: harness.database)?.body
        }
        try harness.perform { try $0.setDraft("begun", for: romeo) }
        try harness.directory.share("another's", to: romeo, clock: harness.clock.clock)
        try taking.run { _, _ in }
        #expect(try draft() == "begun")
        try harness.directory.share("begun and ended", to: romeo, endsDraft: true, clock: harness.clock.clock)
        #expect(try draft() == "begun")
        try taking.run { _, _ in }
        #expect(try draft() == nil && harness.queue().count == 2)
        // Accepted again under its id, after another draft was begun.
        try harness.perform { step in
            var text = try OutgoingText("once", to: romeo, id: "once")
            text.endsDraft = true
            for _ in 1...2 {
                _ = try text.accept(in: step)
                try step.setDraft("new", for: romeo)
            }
            _ = try text.accept(in: step)
        }
        #expect(try draft() == "new")
    }

    @Test(
        "a process that dies between the two commits: nothing is moved twice, nothing is shown twice, the rest is removed"
    )
    func diedBetween() throws {
        try share("one")
        try share("two")
        _ = try taking.importAll { _, _ in }
        // The process dies here: the messages are in both databases.
        #expect(try store.parcels(after: 0).count == 2 && history() == ["one queued", "two queued"])
        #expect(try !taking.hasItems)
        try share("three")
        #expect(try history() == ["one queued", "two queued", "three queued"])
        try taking.run { _, effects in #expect(effects.told == ["three is queued"]) }
        #expect(try harness.queue() == ["one", "two", "three"].map { "message chat \($0)" })
        #expect(try !store.hasParcels(after: 0))
    }

    @Test("a step that is undone, because another process drives or a power failure forgot it, moves nothing")
    func undone() throws {
        try share("one")
        try harness.database.run("UPDATE fence SET number = number + 1")
        #expect(throws: FenceError.self) { try taking.run { _, _ in } }
        #expect(try harness.history().isEmpty && history() == ["one queued"] && taking.hasItems)
        try harness.database.run("UPDATE fence SET number = number - 1")
        try taking.run { _, _ in }
        #expect(try harness.history() == ["out one (queued)"])
    }

    @Test("a restored database does not send messages with known ids again")
    func putBack() throws {
        try share("one")
        _ = try taking.importAll { _, _ in }
        try harness.database.run("DELETE FROM shared")
        try taking.run { _, effects in #expect(effects.told.isEmpty) }
        #expect(try harness.history() == ["out one (queued)"] && harness.queue() == ["message chat one"])
    }

    @Test("hundreds of messages are moved in portions, in order")
    func many() throws {
        for number in 0..<250 { try share("\(number)") }
        var steps = 0
        try taking.run { _, _ in steps += 1 }
        #expect(steps == 3)
        #expect(try harness.queue() == (0..<250).map { "message chat \($0)" })
    }

    @Test("a parcel of a later version is not lost: it becomes a dead letter; the rest goes on")
    func unknown() throws {
        let other = try MailboxQueue(directory: harness.directory.path)
        _ = try other.add("dance", [1, 2], from: "juliet@example.org", now: 1)
        _ = try other.add(SharedMessage.name, [0xFF], from: "juliet@example.org", now: 1)
        try share("one")
        try taking.run { _, _ in }
        let letters = try StatusReader(harness.directory, harness.database).deadLetters()
        #expect(letters.map(\.name) == ["message", "dance"] && letters.allSatisfy { $0.origin == .share })
        #expect(try harness.history() == ["out one (queued)"])
    }

    @Test("unsent messages of a removed account are removed, too")
    func removed() throws {
        _ = try MailboxQueue(directory: harness.directory.path)
            .add(SharedMessage.name, [], from: "nobody@example.org", now: 1)
        try share("one")
        try taking.run { _, _ in }
        #expect(try harness.history() == ["out one (queued)"] && !store.hasParcels(after: 0))
    }

    @Test("a process that only wants to send does not wait for a writer of the accounts' database")
    func notBlocked() throws {
        let other = try harness.directory.open(.machine, role: .share, now: 1)
        try other.execute("BEGIN IMMEDIATE")
        let begin = Date()
        try share("one")
        #expect(Date().timeIntervalSince(begin) < 1)
        try other.execute("ROLLBACK")
    }

    @Test("a message that cannot be sent is refused, and nothing is stored")
    func refused() throws {
        #expect(throws: AcceptError.empty) { try share("") }
        #expect(throws: AcceptError.notXML(0)) { try share("\u{0}") }
        #expect(throws: DirectoryError.self) {
            try harness.directory.share("x", to: try JID("romeo@example.net"), from: try JID("nobody@example.org"))
        }
        #expect(try !taking.hasItems)
    }

    @Test("history with one conversation shows its waiting messages; the limit counts them")
    func conversation() throws {
        try harness.accept("before")
        try share("one")
        _ = try harness.directory.share("to nurse", to: try JID("nurse@example.net"), clock: harness.clock.clock)
        let reader = try HistoryReader(harness.directory)
        let romeo = try reader.entries(of: harness.account, with: try JID("romeo@example.net"), limit: 2)
        #expect(
            romeo.compactMap { if case .message(let message) = $0 { message.body } else { nil } } == ["before", "one"])
        #expect(try reader.messages(of: harness.account, with: nil, limit: 2).map(\.body) == ["one", "to nurse"])
    }
}
