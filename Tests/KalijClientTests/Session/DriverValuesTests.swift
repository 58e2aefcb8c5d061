import KalijCoordination
import KalijStore
import KalijStream
import KalijTransport
import KalijXML
import Testing

@testable import KalijEngine
@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// What the driver does when is decided by values that take events and return actions: transcripts, without socket, clock or disk.
struct DriverValuesTests {
    /// What a value answers, which changes it: the macro takes no such call.
    private func same<Answer: Equatable>(
        _ answer: Answer, _ wanted: Answer, _ comment: Comment? = nil, at place: SourceLocation = #_sourceLocation
    ) { #expect(answer == wanted, comment, sourceLocation: place) }

    // MARK: Reconnecting

    @Test("each failure doubles the delay up to the longest; a session that lasted, or another network, begins anew")
    func backoff() {
        var reconnecting = ReconnectPolicy(longest: 5)
        func fail() -> Double {
            reconnecting.ended(isResumePending: false)
            return reconnecting.delay(random: 1)
        }
        #expect([fail(), fail(), fail(), fail(), fail()] == [1, 2, 4, 5, 5])
        reconnecting.established()
        #expect(fail() == 5, "a session that ends at once proves nothing")
        reconnecting.established()
        reconnecting.lasted()
        #expect([fail(), fail()] == [1, 2])
        reconnecting.networkChanged()
        #expect(fail() == 1)
    }

    @Test("after a stanza that could not be handled the next connection comes soon, until all attempts are used up")
    func failedStanza() {
        var reconnecting = ReconnectPolicy(longest: 60)
        func fail() -> Double {
            reconnecting.established()
            reconnecting.stanzaFailed()
            reconnecting.ended(isResumePending: false)
            return reconnecting.delay(random: 0.5)
        }
        func soon() -> Bool { (1...Attempts.last).map { _ in fail() }.allSatisfy { $0 == 1.5 } }
        #expect(soon())
        #expect((1...6).map { _ in fail() }.max() ?? 0 > 10, "not for ever: a server may forget each session")
        reconnecting.stanzaSetAside()
        #expect(soon(), "the archive may show the stanza again")
        reconnecting.lasted()
        #expect(soon())
    }

    @Test("after a letter that fails the next connection is made at once, but not for ever")
    func hasty() {
        var reconnecting = ReconnectPolicy(longest: 5)
        func answers() -> [Bool] { (1...9).map { _ in reconnecting.letterFailed() } }
        let wanted = [Bool](repeating: true, count: 8) + [false]
        #expect(answers() == wanted && !reconnecting.givesUpSession)
        reconnecting.lasted()
        same(reconnecting.letterFailed(), false, "no session was there")
        #expect(reconnecting.givesUpSession, "without a session to resume the login goes by steps")
        reconnecting.established()
        #expect(answers() == wanted)
        reconnecting.networkChanged()
        #expect(answers() == wanted)
    }

    @Test(
        "a session is given up after two connections that ended without an answer to <resume/>, or one stream error there"
    )
    func unanswered() {
        var reconnecting = ReconnectPolicy(longest: 5)
        for isPending in [false, true, false] { reconnecting.ended(isResumePending: isPending) }
        #expect(!reconnecting.givesUpSession)
        reconnecting.ended(isResumePending: true)
        #expect(reconnecting.givesUpSession)
        reconnecting.gaveUpSession()
        #expect(!reconnecting.givesUpSession)
        reconnecting.resumeCut()
        reconnecting.ended(isResumePending: true)
        #expect(reconnecting.givesUpSession)
        reconnecting.established()
        #expect(!reconnecting.givesUpSession)
    }

    @Test("a session is given up after three connections in a row in which the server acknowledged nothing")
    func silent() {
        var reconnecting = ReconnectPolicy(longest: 5)
        func connect(isAnswered: Bool) {
            reconnecting.established()
            if isAnswered { reconnecting.acknowledged() }
            reconnecting.fellSilent()
            reconnecting.ended(isResumePending: false)
        }
        for isAnswered in [false, false, true, false] { connect(isAnswered: isAnswered) }
        #expect(!reconnecting.givesUpSession)
        connect(isAnswered: false)
        #expect(reconnecting.givesUpSession)
        reconnecting.gaveUpSession()
        #expect(!reconnecting.givesUpSession)
    }

    // MARK: Storage

    @Test("a database that cannot be written is waited for, longer each time; that it can is news once")
    func storage() {
        var storage = StorageBackoff(longest: 3)
        same(storage.worked(), false)
        same(storage.failed(random: 1), 1)
        #expect(storage.isWaiting)
        same(storage.worked(), false, "something was done that needs no room")
        storage.goOn()
        same(storage.failed(random: 0.5), 1)
        storage.goOn()
        same(storage.failed(random: 1), 3)
        storage.goOn()
        same(storage.worked(), true)
        same(storage.worked(), false)
        same(storage.failed(random: 1), 1)
    }

    // MARK: Acknowledging

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
        acknowledging.heard()
        same(acknowledging.silence(isBlocked: false), [.wait(20)])
        acknowledging.heard()
        same(acknowledging.silence(isBlocked: false), [.wait(20)])
        same(acknowledging.silence(isBlocked: true), [.wait(20)], "nothing is read that could be heard")
        acknowledging.heard()
        same(acknowledging.silence(isBlocked: false), [.giveUp(60)])
        same(acknowledging.request(within: 10), [])
        same(acknowledging.networkChanged(within: 10), [.wait(10)])
        same(acknowledging.silence(isBlocked: false), [.giveUp(10)])
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
        managed.heard()
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
        #expect(acknowledging.owed == 3)
        acknowledging.lettingGo()
        #expect(acknowledging.owed == 3)
        acknowledging.paid()
        #expect(acknowledging.owed == 0)
        acknowledging.lettingGo()
        #expect(acknowledging.owed == 1)
    }

    @Test("while stanzas come that nobody asks about, one <a/> is owed after fifty of them or ten seconds")
    func unasked() {
        var acknowledging = AckPolicy(isManaged: true, longestSilence: 60, handled: HandledCount(.max - 9))
        func owed(_ count: UInt32, at now: Double) -> Int {
            acknowledging.handled(HandledCount(.max - 9).advanced(by: count), at: now)
            defer { if acknowledging.owed > 0 { acknowledging.paid() } }
            return acknowledging.owed
        }
        #expect([owed(0, at: 100), owed(49, at: 100), owed(49, at: 109)] == [0, 0, 0])
        #expect(owed(50, at: 109) == 1)
        #expect(owed(350, at: 110) == 1, "however many they are, the last count tells of all")
        #expect(
            [owed(350, at: 900), owed(351, at: 901), owed(352, at: 910.5)] == [0, 0, 0], "nothing was untold before")
        #expect([owed(353, at: 911), owed(353, at: 950)] == [1, 0])
        acknowledging.requested(2)
        #expect(owed(403, at: 951) == 2, "the answers tell of the stanzas, too")
        acknowledging.requested()
        #expect(owed(404, at: 951) == 1)
        #expect([owed(405, at: 952), owed(406, at: 961.5)] == [0, 0], "the answer began the time anew")
    }

    // MARK: Redelivery

    @Test(
        "a stanza that comes again is begun before it is handled, once in each process, and set aside at the third attempt"
    )
    func redelivery() {
        var redelivery = PoisonStanzaGuard(isCareful: true)
        let (seventh, eighth) = (HandledCount(7), HandledCount(8))
        #expect(redelivery.handle(seventh) == .begin)
        redelivery.begun(seventh, attempt: 1)
        #expect(redelivery.handle(seventh) == .handle)
        #expect(redelivery.isTrying && !redelivery.isOver)
        redelivery.attemptEnded()
        #expect(redelivery.handle(eighth) == .begin)
        redelivery.begun(eighth, attempt: Attempts.last)
        #expect(redelivery.handle(eighth) == .setAside(3))
        redelivery.attemptEnded()
        redelivery.passed()
        #expect(redelivery.handle(HandledCount(9)) == .handle)
        #expect(redelivery.isOver)
        redelivery.failed()
        #expect(redelivery.handle(HandledCount(9)) == .begin)
    }

    // MARK: Expiry

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

    // MARK: What has arrived

    private static func events(_ texts: String...) throws -> [StreamParserEvent] {
        try texts.map { .element(try Element.parse($0.contains("urn:xmpp:sm:3") ? $0 : StepHarness.inClient($0))) }
    }

    private static let message = "<message from='romeo@example.net/x'><body>hello</body></message>"
    private static let request = "<r xmlns='urn:xmpp:sm:3'/>"
    private static func result(_ id: String, of query: String = "q") -> String {
        "<message><result xmlns='urn:xmpp:mam:2' id='\(id)' queryid='\(query)'/></message>"
    }

    @Test(
        "results of one page are one step, fifty at most, whatever <r/> are between them; anything else is a step of its own"
    )
    func batch() throws {
        let events = try Self.events(
            Self.result("1"), Self.request, Self.result("2"), Self.message, Self.result("3", of: "other"),
            Self.result("4"), Self.request, "<a xmlns='urn:xmpp:sm:3' h='9'/>", Self.message)
        var batch = try #require(Batch(events[...], StreamManagement()))
        var parts: [InboundBatch] = []
        while let part = batch.next() { parts.append(part) }
        #expect(parts.map(\.stanzas.count) == [2, 1, 1, 1])
        #expect(parts.map { $0.count?.value } == [2, 3, 4, 5])
        #expect(batch.taken == 7 && batch.requests == 2, "an acknowledgement is handled by itself")
        #expect(batch.management.handled == HandledCount(5))
        let page = try (1...120).flatMap { try Self.events(Self.result("\($0)")) }
        var large = try #require(Batch(page[...], StreamManagement()))
        var sizes: [Int] = []
        while let part = large.next() { sizes.append(part.stanzas.count) }
        #expect(sizes == [50, 50, 20])
    }

    @Test("what waits alone, or begins with something else, is no batch")
    func noBatch() throws {
        #expect(Batch(try Self.events(Self.message)[...], StreamManagement()) == nil)
        #expect(Batch(try Self.events(Self.request, Self.message)[...], StreamManagement()) == nil)
        #expect(Batch(try Self.events(Self.message, Self.request)[...], StreamManagement()) != nil)
    }

    @Test(
        "what arrives is handled in the next turn; results wait for their page; an error, or too much, waits for nothing"
    )
    func inbox() throws {
        var inbox = Inbox()
        for event in try Self.events(Self.message) { inbox.append(event) }
        #expect(inbox.turn(gathers: true) == .next)
        for event in try Self.events(Self.result("1"), Self.request) { inbox.append(event) }
        #expect(inbox.turn(gathers: true) == .withPage)
        #expect(inbox.turn(gathers: false) == .next)
        for event in try (0..<200).flatMap({ _ in try Self.events(Self.message) }) { inbox.append(event) }
        #expect(inbox.turn(gathers: true) == .now)
        inbox.removeFirst(203)
        inbox.fail(StreamFailure.closed)
        #expect(inbox.turn(gathers: true) == .now)
    }

    @Test("what could not be handled together is handled one by one")
    func alone() throws {
        var inbox = Inbox()
        for event in try Self.events(Self.message, Self.message, Self.message) { inbox.append(event) }
        inbox.handleAlone(2)
        #expect(inbox.alone == 2)
        inbox.removeFirst()
        inbox.removeFirst()
        #expect(inbox.alone == 0 && inbox.waiting.count == 1)
    }

    @Test("the archive is read again after two hundred messages that it has not shown")
    func tail() {
        var tail = ArchiveSyncTrigger()
        same(tail.grew(by: 199, isCaughtUp: false), .none)
        same(tail.grew(by: 199, isCaughtUp: true), .none)
        same(tail.grew(by: 1, isCaughtUp: false), .read)
        same(tail.grew(by: 1, isCaughtUp: false), .none)
    }

    @Test("over a slow link the archive is read after a thousand messages, or half a minute without one")
    func slowTail() {
        var tail = ArchiveSyncTrigger()
        same(tail.grew(by: 0, isCaughtUp: false, isSlow: true), .none)
        same(tail.grew(by: 200, isCaughtUp: false, isSlow: true), .wait(30))
        same(tail.grew(by: 799, isCaughtUp: false, isSlow: true), .wait(30))
        same(tail.grew(by: 1, isCaughtUp: false, isSlow: true), .read)
        same(tail.quietEnded(), false, "it was read already")
        same(tail.grew(by: 0, waits: true, isCaughtUp: false, isSlow: true), .wait(30))
        same(tail.quietEnded(), true)
        same(tail.quietEnded(), false)
        same(tail.grew(by: 1, isCaughtUp: false, isSlow: true), .wait(30))
        same(tail.grew(by: 0, isCaughtUp: true, isSlow: true), .none)
        same(tail.quietEnded(), false, "another reading has shown it")
        same(tail.grew(by: 1, isCaughtUp: false, isSlow: true), .wait(30))
        same(tail.grew(by: 0, isCaughtUp: false, isSlow: false), .read, "the link has become quick")
    }

    // MARK: Failing

    @Test("who is to blame decides what becomes of an error")
    func consequences() {
        func name(_ error: any Error) -> String { "\(ErrorDisposition(of: error))".prefix { $0 != "(" }.description }
        #expect(name(StoreError(.full, "")) == "wait")
        #expect(name(StoreError(.busy, "")) == "wait")
        #expect(name(StoreError(.corrupt, "")) == "stop")
        #expect(name(NegotiationError.closed(during: "")) == "negotiation")
        #expect(name(StreamManagementError.invalidCount) == "disconnect")
        #expect(name(StreamFailure.closed) == "disconnect")
        #expect(name(StreamFailure.stream(StreamError(.policyViolation))) == "blame")
        #expect(name(StoreError(.constraint, "")) == "careful")
        #expect(name(CancellationError()) == "careful")
    }

    @Test("a resource that is taken once stays: a server read the late resumption of a process that had ended")
    func conflict() {
        var reconnecting = ReconnectPolicy(longest: 60)
        reconnecting.resourceTaken(random: 0.5)
        #expect(reconnecting.otherResource == nil)
        reconnecting.resourceTaken(random: 0.5)
        #expect(reconnecting.otherResource != nil)
    }
}
