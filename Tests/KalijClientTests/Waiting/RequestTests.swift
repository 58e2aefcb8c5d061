import KalijAddress
import KalijHandlers
import KalijStore
import KalijXML
import Testing

@testable import KalijEngine
@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// "exactly one of reply, timeout or invalidation reaches it, exactly once, over any number of process deaths"
struct RequestTests {
    private func result(_ id: String, from: String? = nil, type: String = "result") -> String {
        "<iq type='\(type)' id='\(id)'\(from.map { " from='\($0)'" } ?? "")/>"
    }

    @Test("the request and its handler are stored in one step, and leave with an id that nobody can guess")
    func sent() throws {
        let harness = try StepHarness.logging()
        #expect(throws: Log.Failing.Failure.self) {
            try harness.perform { step in
                _ = try step.send(.question(to: nil), then: Log.Logged(text: "undone"))
                throw Log.Failing.Failure()
            }
        }
        #expect(try harness.count("request") == 0 && harness.queue().isEmpty)
        let ids = try (0..<20).map { try harness.ask("\($0)", to: "romeo@example.net") }
        #expect(Set(ids).count == 20 && ids.allSatisfy { $0.utf8.count == 36 })
        let bytes = try harness.write().map(\.stanza).last ?? []
        #expect(try Element.parse(StepHarness.inClient(String(decoding: bytes, as: UTF8.self)))["id"] == ids.last)
    }

    @Test("the answer reaches the handler in another process, and once")
    func answered() throws {
        let harness = try StepHarness.logging()
        let id = try harness.ask("one", to: "romeo@example.net/orchard")
        let answer = try Element.parse(StepHarness.inClient(result(id, from: "romeo@example.net/orchard")))
        let other = try harness.inAnotherProcess()
        _ = try other.handle(answer, count: try other.load().handled.advanced())
        try harness.receive(result(id, from: "romeo@example.net/orchard"))
        try harness.letExpire()
        _ = try harness.steps.resumeFailed(nil)
        try harness.bind(resumeID: "session-2", answered: .all)
        #expect(try harness.log() == ["one: result"])
        #expect(try harness.count("dead_letter") == 0)
    }

    @Test("an error is an answer (RFC 6120 8.3)")
    func error() throws {
        let harness = try StepHarness.logging()
        let id = try harness.ask("one", to: "example.net")
        try harness.receive(
            """
            <iq type='error' id='\(id)' from='example.net'><error type='cancel'><item-not-found \
            xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></iq>
            """)
        #expect(try harness.log() == ["one: item-not-found"])
    }

    @Test("an answer with another request's id, a second answer, and a late answer change nothing and are not answered")
    func nothing() throws {
        let harness = try StepHarness.logging()
        let mine = try harness.ask("mine", to: "romeo@example.net")
        let other = try harness.ask("other", to: "mallory@example.com")
        try harness.receive(result(mine, from: "mallory@example.com"))
        try harness.receive(result("guessed", from: "mallory@example.com"))
        #expect(try harness.log().isEmpty)
        try harness.receive(result(other, from: "mallory@example.com"))
        try harness.letExpire()
        let rest = try harness.dump().filter { !$0.hasPrefix("session") }
        try harness.receive(result(other, from: "mallory@example.com", type: "error"))
        try harness.receive(result(mine, from: "romeo@example.net"))
        #expect(try harness.log() == ["other: result", "mine: timeout"])
        #expect(try harness.dump().filter { !$0.hasPrefix("session") } == rest)
    }

    @Test("deadlines pass while no process runs, and due requests time out in order")
    func deadline() throws {
        let harness = try StepHarness.logging()
        _ = try harness.ask("late", to: "romeo@example.net", within: .seconds(20))
        _ = try harness.ask("later", to: "romeo@example.net", within: .seconds(60))
        _ = try harness.ask("early", to: "romeo@example.net", within: .seconds(10))
        harness.clock.move(by: 9_999)
        #expect(try harness.steps.expire(.all, until: harness.clock.now) == nil)
        harness.clock.move(by: 10_001)
        let other = try harness.inAnotherProcess()
        while try other.expire(.all, until: harness.clock.now) != nil {}
        #expect(try harness.log() == ["early: timeout", "late: timeout"])
        #expect(try harness.steps.nextDeadline() == harness.clock.now + 40_000)
    }

    @Test("after the deadline, the answer that was on its way when the process started comes first")
    func redelivered() throws {
        let harness = try StepHarness.logging()
        let id = try harness.ask("one", to: "romeo@example.net")
        harness.clock.move(by: 3_600_000)
        let other = try harness.inAnotherProcess()
        _ = try other.resumed(try other.load().acknowledged.advanced(by: UInt32(try other.queued())))
        try harness.receive(result(id, from: "romeo@example.net"))
        #expect(try harness.steps.expire(.all, until: harness.clock.now) == nil)
        #expect(try harness.log() == ["one: result"])
    }

    @Test("without a connection only requests that were never sent time out, and are not sent any more")
    func offline() throws {
        let harness = try StepHarness.logging()
        _ = try harness.ask("sent", to: "romeo@example.net")
        try harness.perform { step in
            _ = try step.send(.question(to: nil), then: Log.Logged(text: "unsent"), within: .seconds(1))
        }
        harness.clock.move(by: 60_000)
        while try harness.steps.expire(.unsent, until: harness.clock.now) != nil {}
        #expect(try harness.log() == ["unsent: timeout"])
        #expect(try harness.queue().count == 1)
    }

    @Test("a request that nobody waits for any more is not sent again after a resume")
    func expiredBeforeResume() throws {
        let harness = try StepHarness.logging()
        _ = try harness.ask("one", to: "romeo@example.net")
        harness.clock.move(by: 60_000)
        _ = try harness.steps.resumed(try harness.steps.load().acknowledged)
        #expect(try harness.queue().isEmpty)
        #expect(try harness.count("request") == 1)
    }

    @Test("a failed resume invalidates sent requests; unsent requests are sent in the new session and go on waiting")
    func sessionLost() throws {
        let harness = try StepHarness.logging()
        _ = try harness.ask("sent", to: "romeo@example.net")
        _ = try harness.perform { step in try step.send(.question(to: nil), then: Log.Silent(), within: .seconds(900)) }
        try harness.write()
        let waiting = try harness.perform { step in
            try step.send(.question(to: nil), then: Log.Logged(text: "unsent"), within: .seconds(900))
        }
        _ = try harness.steps.resumeFailed(nil)
        try harness.bind(resumeID: "session-2", answered: .all)
        #expect(try harness.log() == ["sent: session lost"])
        #expect(try harness.queue() == ["iq get query", "iq get query"])  // unsent, and for features
        try harness.receive(result(waiting))
        #expect(try harness.log() == ["sent: session lost", "unsent: result"])
        #expect(try harness.count("dead_letter") == 0)
    }

    @Test("a request sent by an invalidated handler belongs to the new session")
    func sentByInvalidation() throws {
        let harness = try StepHarness.logging()
        _ = try harness.perform { try $0.send(.question(to: nil), then: Log.AsksAgain()) }
        try harness.write()
        _ = try harness.steps.resumeFailed(nil)
        try harness.bind(resumeID: "session-2", answered: .all)
        let id = try #require(try harness.text("SELECT id FROM request WHERE name = 'log.asks-again'"))
        try harness.receive(result(id))
        #expect(try harness.log() == ["asked again"])
    }

    @Test("a handler that throws makes the step of an answer void: the server sends the answer again")
    func throwing() throws {
        let harness = try StepHarness.logging()
        let id = try harness.perform { try $0.send(.question(to: nil), then: Log.Failing()) }
        let before = try harness.dump()
        #expect(throws: Log.Failing.Failure.self) { try harness.receive(result(id)) }
        #expect(try harness.dump() == before)
    }

    @Test("a handler that throws at a timeout or an invalidation is undone alone, is a dead letter, and stops nothing")
    func throwingAlone() throws {
        let harness = try StepHarness.logging()
        for _ in 0..<2 {
            _ = try harness.perform { try $0.send(.question(to: nil), then: Log.Failing(), within: .seconds(30)) }
            _ = try harness.ask("other")
        }
        let told = try harness.letExpire()
        #expect(told.count == 2 && told.allSatisfy { $0.hasPrefix("dead letter log.failing: it failed") })
        _ = try harness.perform { try $0.send(.question(to: nil), then: Log.Failing()) }
        _ = try harness.ask("third")
        _ = try harness.steps.resumeFailed(nil)
        try harness.bind(resumeID: "session-2", answered: .all)
        #expect(try harness.log() == ["other: timeout", "other: timeout", "third: session lost"])
        #expect(try harness.queue() == ["iq get query"])
        #expect(try harness.count("dead_letter") == 3)
    }

    @Test("a stanza that is no request is refused before anything is stored")
    func noRequest() throws {
        let harness = try StepHarness.logging()
        let iq = Element.question(to: "not an@address@")
        for (element, error) in [
            (Element("message", xmlns: "jabber:client"), RequestError.notARequest),
            (Element("iq", xmlns: "jabber:client", attributes: ["type": "result"]), .notARequest),
            (Element("iq", xmlns: "jabber:client", attributes: ["type": "get"]), .payload(0)),
        ] {
            #expect(throws: error) { try harness.perform { try $0.send(element, then: Log.Silent()) } }
        }
        #expect(throws: JIDError.self) { try harness.perform { try $0.send(iq, then: Log.Silent()) } }
        #expect(try harness.count("request") == 0)
    }

    @Test("deadlines beyond all bounds are no trap", arguments: [Duration.seconds(Int64.max), .zero, .seconds(-5)])
    func bounds(_ duration: Duration) throws {
        let harness = try StepHarness.logging()
        _ = try harness.ask("one", within: duration)
        #expect(try harness.steps.nextDeadline() ?? 0 >= harness.clock.now)
    }

    @Test("a process that does not drive asks; the driver sends and calls")
    func accepted() throws {
        let harness = try StepHarness.logging()
        let iq = Element.question(to: "romeo@example.net")
        let id = try AdHocRequests(harness.database).ask(
            iq, of: harness.account, clock: harness.clock.clock, within: .seconds(30))
        try harness.write()
        let request = try #require(try harness.text("SELECT request FROM question"))
        try harness.receive(result(request, from: "romeo@example.net"))
        let question = try #require(try AdHocRequests(harness.database).question(id))
        #expect((question.outcome, question.recipient) == ("result", "romeo@example.net"))
        #expect(question.answer?.contains(request) == true)
    }
}
