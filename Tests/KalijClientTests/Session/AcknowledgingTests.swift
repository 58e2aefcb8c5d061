import KalijStream
import Testing

@testable import KalijEngine
@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// When the driver asks for an acknowledgement, and what it concludes: values that take events and return actions, without socket,
/// clock or disk.
struct AcknowledgingTests {
    private static func entries(_ ids: ClosedRange<Int64>, message: Int64? = nil) -> [OutboundQueue.Entry] {
        ids.map {
            OutboundQueue.Entry(id: $0, message: message, groupchat: nil, request: nil, stanza: [], isBlamed: false)
        }
    }

    @Test(
        "what is written is asked for once; the answer ends the waiting, and what was written meanwhile is asked for then"
    )
    func asking() {
        var acknowledging = AckPolicy(isManaged: true, longestSilence: 60)
        same(acknowledging.flushed(within: 60), [])
        acknowledging.wrote(Self.entries(1...2))
        same(acknowledging.flushed(within: 60), [.request, .wait(60)])
        same(acknowledging.flushed(within: 60), [])
        acknowledging.wrote(Self.entries(3...3))
        same(acknowledging.flushed(within: 60), [], "one question at a time")
        same(acknowledging.acknowledged(2), [.answered])
        same(acknowledging.flushed(within: 60), [.request, .wait(60)])
        same(acknowledging.acknowledged(1), [.answered])
        same(acknowledging.flushed(within: 60), [])
    }

    @Test("over a slow link five seconds are between two questions, but a message of the user's is asked for at once")
    func askingSlowly() {
        var acknowledging = AckPolicy(isManaged: true, longestSilence: 60)
        acknowledging.wrote(Self.entries(1...1))
        same(acknowledging.flushed(within: 60, isSlow: true, at: 100), [.request, .wait(60)])
        same(acknowledging.acknowledged(1), [.answered])
        acknowledging.wrote(Self.entries(2...2))
        same(acknowledging.flushed(within: 60, isSlow: true, at: 101), [.later(4)])
        acknowledging.wrote(Self.entries(3...3))
        same(acknowledging.flushed(within: 60, isSlow: true, at: 102), [], "it waits already")
        same(acknowledging.pauseEnded(within: 60), [.request, .wait(60)])
        same(acknowledging.acknowledged(2), [.answered])
        acknowledging.wrote(Self.entries(4...4))
        same(acknowledging.flushed(within: 60, isSlow: true, at: 106), [.later(4)])
        acknowledging.wrote(Self.entries(5...5, message: 7))
        same(acknowledging.flushed(within: 60, isSlow: true, at: 107), [.request, .wait(60)])
        same(acknowledging.acknowledged(2), [.answered])
        // The question has ended the pause.
        acknowledging.wrote(Self.entries(6...6))
        same(acknowledging.flushed(within: 60, isSlow: true, at: 108), [.later(4)])
        same(acknowledging.pauseEnded(within: 60), [.request, .wait(60)])
        same(acknowledging.acknowledged(1), [.answered])
        acknowledging.wrote(Self.entries(7...7))
        same(acknowledging.flushed(within: 60, isSlow: false, at: 109), [.request, .wait(60)])
    }

    @Test("silence ends the connection; while bytes come their answer is waited for, but not for ever")
    func silence() {
        var acknowledging = AckPolicy(isManaged: true, longestSilence: 6)
        same(acknowledging.request(within: 20), [.request, .wait(20)])
        acknowledging.received()
        same(acknowledging.silence(isBlocked: false), [.wait(20)])
        acknowledging.received()
        same(acknowledging.silence(isBlocked: false), [.wait(20)])
        same(acknowledging.silence(isBlocked: true), [.wait(20)], "nothing is read that could be heard")
        acknowledging.received()
        same(acknowledging.silence(isBlocked: false), [.close(60)])
        same(acknowledging.request(within: 10), [])
        same(acknowledging.networkChanged(within: 10), [.wait(10)])
        same(acknowledging.silence(isBlocked: false), [.close(10)])
    }

    @Test("a server that acknowledges less than was sent has answered, in the end; it is asked again when it moves")
    func behind() {
        var acknowledging = AckPolicy(isManaged: true, longestSilence: 60)
        acknowledging.wrote(Self.entries(1...3))
        same(acknowledging.flushed(within: 60), [.request, .wait(60)])
        same(acknowledging.acknowledged(1), [])
        same(acknowledging.flushed(within: 60), [.request, .wait(60)])
        same(acknowledging.acknowledged(0), [])
        same(acknowledging.flushed(within: 60), [], "nothing is new")
        same(acknowledging.silence(isBlocked: false), [.answered])
    }

    @Test("a sign of life is sent after silence, in the words that the server understands")
    func keepAlive() {
        var managed = AckPolicy(isManaged: true, longestSilence: 60)
        managed.received()
        same(managed.keepAlive(within: 60), [])
        same(managed.keepAlive(within: 60), [.request, .wait(60)])
        same(managed.keepAlive(within: 60), [], "the answer is awaited")
        var unmanaged = AckPolicy(isManaged: false, longestSilence: 60)
        same(unmanaged.keepAlive(within: 60), [.whiteSpace])
        same(unmanaged.request(within: 1), [])
        same(unmanaged.networkChanged(within: 1), [])
        unmanaged.wrote(Self.entries(1...1))
        same(unmanaged.flushed(within: 60), [])
    }

    @Test("each <r/> is answered once, and who lets go answers unasked")
    func owed() {
        var acknowledging = AckPolicy(isManaged: true, longestSilence: 60)
        acknowledging.requested()
        acknowledging.requested(2)
        #expect(acknowledging.outstandingAcks == 3)
        acknowledging.shuttingDown()
        #expect(acknowledging.outstandingAcks == 3)
        acknowledging.paid()
        #expect(acknowledging.outstandingAcks == 0)
        acknowledging.shuttingDown()
        #expect(acknowledging.outstandingAcks == 1)
    }

    @Test("without <r/>, one <a/> is sent after fifty stanzas or ten seconds")
    func unasked() {
        var acknowledging = AckPolicy(isManaged: true, longestSilence: 60, handled: HandledCount(.max - 9))
        func owed(_ count: UInt32, at now: Double) -> Int {
            acknowledging.handled(HandledCount(.max - 9).advanced(by: count), at: now)
            defer { if acknowledging.outstandingAcks > 0 { acknowledging.paid() } }
            return acknowledging.outstandingAcks
        }
        #expect([owed(0, at: 100), owed(49, at: 100), owed(49, at: 109)] == [0, 0, 0])
        #expect(owed(50, at: 109) == 1)
        #expect(owed(350, at: 110) == 1, "one <a/> acknowledges all stanzas up to its count")
        #expect(
            [owed(350, at: 900), owed(351, at: 901), owed(352, at: 910.5)] == [0, 0, 0],
            "every stanza was acknowledged before")
        #expect([owed(353, at: 911), owed(353, at: 950)] == [1, 0])
        acknowledging.requested(2)
        #expect(owed(403, at: 951) == 2, "the requested <a/> acknowledges the stanzas, too")
        acknowledging.requested()
        #expect(owed(404, at: 951) == 1)
        #expect([owed(405, at: 952), owed(406, at: 961.5)] == [0, 0], "the requested <a/> restarts the time")
    }

    @Test(
        "requests time out when what was queued after their deadline is acknowledged; without a session those that never left"
    )
    func expiry() {
        var expiry = RequestExpiry()
        #expect(expiry.deadlinePassed(.none, now: 5) == .expire(.unsent, until: 5))
        #expect(expiry.deadlinePassed(.unmanaged, now: 5) == .expire(.all, until: 5))
        #expect(expiry.deadlinePassed(.negotiating, now: 5) == nil)
        #expect(expiry.deadlinePassed(.managed, now: 5) == .mark)
        expiry.marked(by: 17, at: 5)
        #expect(expiry.deadlinePassed(.managed, now: 6) == nil, "one mark at a time")
        same(expiry.acknowledged { $0 < 17 }, nil)
        same(expiry.acknowledged { $0 <= 17 }, .expire(.all, until: 5))
        same(expiry.acknowledged { _ in true }, nil)
        expiry.marked(by: 18, at: 7)
        expiry.connectionEnded()
        same(expiry.acknowledged { _ in true }, nil)
        #expect(expiry.deadlinePassed(.managed, now: 8) == .mark)
    }
}
