import Foundation
import KalijCoordination
import TestSupport
import Testing

@Suite struct MailboxTests {
    let scratch: ScratchDirectory
    let mailbox: Mailbox
    let other: Mailbox
    let listener: Doorbell.Listener

    init() throws {
        scratch = try ScratchDirectory()
        mailbox = try Mailbox(directory: scratch.path)
        other = try Mailbox(directory: scratch.path)
        listener = try Doorbell.Listener(directory: scratch.path)
        try mailbox.announce(.driver, number: 3)
    }

    @Test("A letter has a sender, a name and a payload, and is received once")
    func once() throws {
        let sent = try #require(
            try other.send(MailboxRequest("look", payload: [1, 2]), to: .driver, from: .share, now: 10))
        let letters = try mailbox.receive(.driver, as: 3, now: 11)
        let letter = try #require(letters.first)
        #expect(letters.count == 1 && letter.id == sent.id)
        #expect(letter.role == .share && letter.pid == getpid() && letter.name == "look" && letter.payload == [1, 2])
        #expect(letter.replyBy == nil)
        #expect(try mailbox.receive(.driver, as: 3, now: 11).isEmpty)
        #expect(try !other.takeBack(sent))
    }

    @Test("A letter that nobody wants expires")
    func expires() throws {
        _ = try other.send(MailboxRequest("old", lifetime: 5), to: .driver, from: .share, now: 10)
        _ = try other.send(MailboxRequest("new", lifetime: 50), to: .driver, from: .share, now: 10)
        #expect(try mailbox.receive(.driver, as: 3, now: 15).map(\.name) == ["new"])
    }

    @Test("Nothing is left for an absent receiver")
    func nobody() throws {
        #expect(try other.send(.pushArrived, to: .role(.wake), from: .wake, now: 1) == nil)
        #expect(try mailbox.withdraw(.driver, as: 3, now: 1).isEmpty)
        #expect(try other.send(.pushArrived, to: .driver, from: .wake, now: 1) == nil)
    }

    @Test(
        "A process that takes over receives waiting letters; an overtaken process receives nothing, and cannot come back"
    )
    func overtaken() throws {
        _ = try other.send(MailboxRequest("one"), to: .driver, from: .share, now: 1)
        try other.announce(.driver, number: 4)
        try mailbox.announce(.driver, number: 3)
        #expect(try mailbox.receive(.driver, as: 3, now: 1).isEmpty)
        #expect(try mailbox.withdraw(.driver, as: 3, now: 1).isEmpty)
        #expect(try other.receive(.driver, as: 4, now: 1).map(\.name) == ["one"])
    }

    @Test("The end of receiving and the last look are one: an ending receiver has either no letters, or all of them")
    func withdraws() throws {
        _ = try other.send(.pushArrived, to: .driver, from: .wake, now: 1)
        #expect(try mailbox.withdraw(.driver, as: 3, now: 1).map(\.name) == ["pushArrived"])
        #expect(try other.send(MailboxRequest("still there"), to: .driver, from: .wake, now: 1) != nil)
    }

    @Test("A reply reaches the asking process, once; too late the reply reaches nobody")
    func replies() throws {
        let sent = try #require(try other.send(.status, to: .driver, from: .wake, now: 1))
        let caller = try #require(listener.accept())
        sent.bell.ring()
        let letter = try #require(try mailbox.receive(.driver, as: 3, now: 2).first)
        let status = DriverStatus(role: .main, pid: 7, online: 1, accounts: 2)
        try mailbox.reply(to: letter, status.payload, now: 2)
        close(caller)
        #expect(try other.reply(to: sent, within: hangLimit).flatMap(DriverStatus.init) == status)
        #expect(try other.reply(to: sent, within: 0) == nil)
        try mailbox.reply(to: letter, status.payload, now: 6000)
        #expect(try other.reply(to: sent, within: 0) == nil)
    }

    @Test("A process that waits for a reply is told of the receiver's death")
    func receiverDies() throws {
        let sent = try #require(try other.send(.status, to: .driver, from: .wake, now: 1))
        close(try #require(listener.accept()))
        // Not the time ends the waiting: the test would hang for so long.
        let start = Date()
        #expect(try other.reply(to: sent, within: hangLimit) == nil)
        #expect(Date().timeIntervalSince(start) < hangLimit)
        #expect(try other.takeBack(sent))
    }
}
