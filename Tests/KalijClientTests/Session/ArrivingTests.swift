import KalijStream
import KalijXML
import Testing

@testable import KalijEngine
@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// How the driver handles what has arrived: values that take events and return actions, without socket, clock or disk.
struct ArrivingTests {
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
        #expect(batch.consumed == 7 && batch.requests == 2, "an acknowledgement is handled by itself")
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
}
