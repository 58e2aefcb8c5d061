import Foundation
import KalijAddress
import KalijCoordination
import KalijStore
import TestSupport
import Testing

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// "A damaged `mailbox.db` stops `run`, `send` and even `history`: named, set aside, and everything that does not need it goes on."
@Suite(.serialized) struct DamagedMailboxTests {
    private func damage(_ directory: AccountDirectory) throws {
        let url = URL(fileURLWithPath: Mailbox.databasePath(in: directory.path))
        var bytes = try Data(contentsOf: url)
        bytes.replaceSubrange(0..<4096, with: Data(repeating: 0xA5, count: 4096))
        let file = try FileHandle(forWritingTo: url)
        file.write(bytes)
        try file.close()
    }

    private func romeo() throws -> JID { try JID("romeo@localhost") }

    @Test("history and status go on without the mailbox")
    func reading() throws {
        let drive = try EngineFixture(port: 1)
        _ = try drive.accept("one")
        _ = try drive.directory.share("two", to: try romeo())
        try damage(drive.directory)
        let account = try AccountTable(try drive.database()).account(nil, in: drive.directory)
        let reader = try HistoryReader(drive.directory)
        #expect(try reader.messages(of: account, with: nil, limit: 10).map(\.body) == ["one"])
        #expect(reader.mailboxDamage != nil)
        #expect(try StatusReader(drive.directory, drive.directory.read()).accounts().count == 1)
    }

    @Test(
        "new messages go to a new mailbox, and messages in the damaged mailbox are not lost; status reports the damage")
    func sharing() throws {
        let drive = try EngineFixture(port: 1)
        _ = try drive.directory.share("one", to: try romeo())
        try damage(drive.directory)
        _ = try drive.directory.share("two", to: try romeo())
        let account = try AccountTable(try drive.database()).account(nil, in: drive.directory)
        let reader = try HistoryReader(drive.directory)
        #expect(try reader.messages(of: account, with: nil, limit: 10).map(\.body) == ["one", "two"])
        let letters = try StatusReader(drive.directory, drive.directory.read()).deadLetters()
        #expect(letters.count == 1 && letters.first?.name == "mailbox")
        #expect(letters.first?.reason.contains("1 messages were recovered, no message in it is lost") == true)
    }

    @Test(
        "a driver sets a damaged mailbox aside at its start, tells of the damage, and sends the messages that were left"
    )
    func driving() throws {
        let server = try ScriptedServer("idle")
        defer { server.stop() }
        let drive = try EngineFixture(server)
        _ = try drive.directory.share("one", to: try romeo())
        try damage(drive.directory)
        try drive.run { _, event in event.short == "one is acked" }
        #expect(drive.told.contains { $0.hasPrefix("dead letter mailbox: the mailbox was damaged") })
        let states = try drive.states()
        #expect(states == ["one acked"])
    }

    @Test("a driver goes on whose mailbox is damaged meanwhile: the process that finds the damage reports the damage")
    func damagedMeanwhile() throws {
        let server = try ScriptedServer("idle")
        defer { server.stop() }
        let drive = try EngineFixture(server)
        _ = try drive.directory.share("one", to: try romeo())
        let directory = drive.directory
        let recipient = try romeo()
        let shared = Shared()
        try drive.run { _, event in
            if event.short == "one is acked" {
                try damage(directory)
                Thread.detachNewThread {
                    shared.result = Result { try directory.share("two", to: recipient) }
                    shared.isDone.signal()
                }
            }
            return event.short == "two is acked"
        }
        try #require(shared.isDone.wait(timeout: .now() + hangLimit) == .success)
        _ = try #require(shared.result).get()
        let states = try drive.states()
        #expect(states == ["one acked", "two acked"])
        #expect(drive.told.count { $0.hasPrefix("dead letter mailbox") } == 1)
    }

    // The thread that leaves a message writes the result before it signals; the test reads the result after it has waited.
    private final class Shared: @unchecked Sendable {
        var result: Result<Message, any Error>?
        let isDone = DispatchSemaphore(value: 0)
    }
}
