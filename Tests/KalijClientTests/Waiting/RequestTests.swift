import KalijAddress
import KalijHandlers
import KalijStore
import KalijXML
import Testing

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijSteps

/// "exactly one of reply, timeout or invalidation reaches it, exactly once, over any number of process deaths"
struct RequestTests {
    private func result(_ id: String, from: String? = nil, type: String = "result") -> String {
        "<iq type='\(type)' id='\(id)'\(from.map { " from='\($0)'" } ?? "")/>"
    }

    @Test("the request and its handler are stored in one step, and leave with an id that nobody can guess")
    func sent() throws {
        let desk = try Desk.logging()
        #expect(throws: Log.Failing.Failure.self) {
            try desk.perform { step in
                _ = try step.send(.question(to: nil), then: Log.Logged(text: "undone"))
                throw Log.Failing.Failure()
            }
        }
        #expect(try desk.count("request") == 0 && desk.queue().isEmpty)
        let ids = try (0..<20).map { try desk.ask("\($0)", to: "romeo@example.net") }
        #expect(Set(ids).count == 20 && ids.allSatisfy { $0.utf8.count == 36 })
        let bytes = try desk.write().map(\.stanza).last ?? []
        #expect(try Element.parse(Desk.inClient(String(decoding: bytes, as: UTF8.self)))["id"] == ids.last)
    }

    @Test("the answer reaches the handler in another process, and once")
    func answered() throws {
        let desk = try Desk.logging()
        let id = try desk.ask("one", to: "romeo@example.net/orchard")
        let answer = try Element.parse(Desk.inClient(result(id, from: "romeo@example.net/orchard")))
        let other = try desk.inAnotherProcess()
        _ = try other.handle(answer, count: try other.load().handled.advanced())
        try desk.receive(result(id, from: "romeo@example.net/orchard"))
        try desk.letExpire()
        _ = try desk.steps.resumeFailed(nil)
        try desk.bind(resumeID: "session-2")
        #expect(try desk.log() == ["one: result"])
        #expect(try desk.count("dead_letter") == 0)
    }

    @Test("an error is an answer (RFC 6120 8.3)")
    func error() throws {
        let desk = try Desk.logging()
        let id = try desk.ask("one", to: "example.net")
        try desk.receive(
            """
            <iq type='error' id='\(id)' from='example.net'><error type='cancel'><item-not-found \
            xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></iq>
            """)
        #expect(try desk.log() == ["one: item-not-found"])
    }

    @Test("an answer with another request's id, a second answer, and a late answer change nothing and are not answered")
    func nothing() throws {
        let desk = try Desk.logging()
        let mine = try desk.ask("mine", to: "romeo@example.net")
        let other = try desk.ask("other", to: "mallory@example.com")
        try desk.receive(result(mine, from: "mallory@example.com"))
        try desk.receive(result("guessed", from: "mallory@example.com"))
        #expect(try desk.log().isEmpty)
        try desk.receive(result(other, from: "mallory@example.com"))
        try desk.letExpire()
        let rest = try desk.dump().filter { !$0.hasPrefix("session") }
        try desk.receive(result(other, from: "mallory@example.com", type: "error"))
        try desk.receive(result(mine, from: "romeo@example.net"))
        #expect(try desk.log() == ["other: result", "mine: timeout"])
        #expect(try desk.dump().filter { !$0.hasPrefix("session") } == rest)
    }

    @Test("deadlines pass while no process runs, and due requests time out in order")
    func deadline() throws {
        let desk = try Desk.logging()
        _ = try desk.ask("late", to: "romeo@example.net", within: .seconds(20))
        _ = try desk.ask("later", to: "romeo@example.net", within: .seconds(60))
        _ = try desk.ask("early", to: "romeo@example.net", within: .seconds(10))
        desk.clock.move(by: 9_999)
        #expect(try desk.steps.expire(.all, until: desk.clock.now) == nil)
        desk.clock.move(by: 10_001)
        let other = try desk.inAnotherProcess()
        while try other.expire(.all, until: desk.clock.now) != nil {}
        #expect(try desk.log() == ["early: timeout", "late: timeout"])
        #expect(try desk.steps.nextDeadline() == desk.clock.now + 40_000)
    }

    @Test("after the deadline, the answer that was on its way when the process started comes first")
    func redelivered() throws {
        let desk = try Desk.logging()
        let id = try desk.ask("one", to: "romeo@example.net")
        desk.clock.move(by: 3_600_000)
        let other = try desk.inAnotherProcess()
        _ = try other.resumed(try other.load().acknowledged.advanced(by: UInt32(try other.queued())))
        try desk.receive(result(id, from: "romeo@example.net"))
        #expect(try desk.steps.expire(.all, until: desk.clock.now) == nil)
        #expect(try desk.log() == ["one: result"])
    }

    @Test("without a connection only requests that were never sent time out, and are not sent any more")
    func offline() throws {
        let desk = try Desk.logging()
        _ = try desk.ask("sent", to: "romeo@example.net")
        try desk.perform { step in
            _ = try step.send(.question(to: nil), then: Log.Logged(text: "unsent"), within: .seconds(1))
        }
        desk.clock.move(by: 60_000)
        while try desk.steps.expire(.unsent, until: desk.clock.now) != nil {}
        #expect(try desk.log() == ["unsent: timeout"])
        #expect(try desk.queue().count == 1)
    }

    @Test("a request that nobody waits for any more is not sent again after a resume")
    func expiredBeforeResume() throws {
        let desk = try Desk.logging()
        _ = try desk.ask("one", to: "romeo@example.net")
        desk.clock.move(by: 60_000)
        _ = try desk.steps.resumed(try desk.steps.load().acknowledged)
        #expect(try desk.queue().isEmpty)
        #expect(try desk.count("request") == 1)
    }

    @Test("a failed resume invalidates sent requests; unsent requests are sent in the new session and go on waiting")
    func sessionLost() throws {
        let desk = try Desk.logging()
        _ = try desk.ask("sent", to: "romeo@example.net")
        _ = try desk.perform { step in try step.send(.question(to: nil), then: Log.Silent(), within: .seconds(900)) }
        try desk.write()
        let waiting = try desk.perform { step in
            try step.send(.question(to: nil), then: Log.Logged(text: "unsent"), within: .seconds(900))
        }
        _ = try desk.steps.resumeFailed(nil)
        try desk.bind(resumeID: "session-2")
        #expect(try desk.log() == ["sent: session lost"])
        #expect(try desk.queue() == ["iq get query", "iq get query"])  // unsent, and for features
        try desk.receive(result(waiting))
        #expect(try desk.log() == ["sent: session lost", "unsent: result"])
        #expect(try desk.count("dead_letter") == 0)
    }

    @Test("a request sent by an invalidated handler belongs to the new session")
    func sentByInvalidation() throws {
        let desk = try Desk.logging()
        _ = try desk.perform { try $0.send(.question(to: nil), then: Log.AsksAgain()) }
        try desk.write()
        _ = try desk.steps.resumeFailed(nil)
        try desk.bind(resumeID: "session-2")
        let id = try #require(try desk.text("SELECT id FROM request WHERE name = 'log.asks-again'"))
        try desk.receive(result(id))
        #expect(try desk.log() == ["asked again"])
    }

    @Test("a handler that throws makes the step of an answer void: the server sends the answer again")
    func throwing() throws {
        let desk = try Desk.logging()
        let id = try desk.perform { try $0.send(.question(to: nil), then: Log.Failing()) }
        let before = try desk.dump()
        #expect(throws: Log.Failing.Failure.self) { try desk.receive(result(id)) }
        #expect(try desk.dump() == before)
    }

    @Test("a handler that throws at a timeout or an invalidation is undone alone, is a dead letter, and stops nothing")
    func throwingAlone() throws {
        let desk = try Desk.logging()
        for _ in 0..<2 {
            _ = try desk.perform { try $0.send(.question(to: nil), then: Log.Failing(), within: .seconds(30)) }
            _ = try desk.ask("other")
        }
        let told = try desk.letExpire()
        #expect(told.count == 2 && told.allSatisfy { $0.hasPrefix("dead letter log.failing: it failed") })
        _ = try desk.perform { try $0.send(.question(to: nil), then: Log.Failing()) }
        _ = try desk.ask("third")
        _ = try desk.steps.resumeFailed(nil)
        try desk.bind(resumeID: "session-2")
        #expect(try desk.log() == ["other: timeout", "other: timeout", "third: session lost"])
        #expect(try desk.queue() == ["iq get query"])
        #expect(try desk.count("dead_letter") == 3)
    }

    @Test("a stanza that is no request is refused before anything is stored")
    func noRequest() throws {
        let desk = try Desk.logging()
        let iq = Element.question(to: "not an@address@")
        for (element, error) in [
            (Element("message", xmlns: "jabber:client"), RequestError.notARequest),
            (Element("iq", xmlns: "jabber:client", attributes: ["type": "result"]), .notARequest),
            (Element("iq", xmlns: "jabber:client", attributes: ["type": "get"]), .payload(0)),
        ] {
            #expect(throws: error) { try desk.perform { try $0.send(element, then: Log.Silent()) } }
        }
        #expect(throws: JIDError.self) { try desk.perform { try $0.send(iq, then: Log.Silent()) } }
        #expect(try desk.count("request") == 0)
    }

    @Test("deadlines beyond all bounds are no trap", arguments: [Duration.seconds(Int64.max), .zero, .seconds(-5)])
    func bounds(_ duration: Duration) throws {
        let desk = try Desk.logging()
        _ = try desk.ask("one", within: duration)
        #expect(try desk.steps.nextDeadline() ?? 0 >= desk.clock.now)
    }

    @Test("a process that does not drive asks; the driver sends and calls")
    func accepted() throws {
        let desk = try Desk.logging()
        let iq = Element.question(to: "romeo@example.net")
        let id = try Questions(desk.database).ask(iq, of: desk.account, clock: desk.clock.clock, within: .seconds(30))
        try desk.write()
        let request = try #require(try desk.text("SELECT request FROM question"))
        try desk.receive(result(request, from: "romeo@example.net"))
        let question = try #require(try Questions(desk.database).question(id))
        #expect((question.outcome, question.recipient) == ("result", "romeo@example.net"))
        #expect(question.answer?.contains(request) == true)
    }
}
