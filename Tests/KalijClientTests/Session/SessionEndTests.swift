import KalijTransport
import Testing

@testable import KalijEngine
@testable import KalijClient

/// A session's end is the server's to confirm: RFC 6120 section 4.4.
@Suite struct SessionEndTests {
    @Test("the connection stays until the server has ended its stream; what comes until then is read and dropped")
    func waits() throws {
        let client = try ConnectedDriver()
        var answer: Bool?
        client.driver.shutDown(endingSessionWithin: 5) { answer = $0 }
        #expect(client.wire.sent.last == "</stream:stream>")
        client.receive("<message from='romeo@example.net'><body>too late</body></message>")
        #expect(answer == nil)
        client.receive("</stream:stream>")
        #expect(answer == false)
        #expect(client.told.isEmpty)
    }

    @Test("a server that closes has ended the session; a server that resets, says nonsense or is silent has not")
    func others() throws {
        let endings: [(Bool, (ConnectedDriver) -> Void)] = [
            (false, { $0.wire.events(.closed(nil)) }),
            (true, { $0.wire.events(.closed(TransportError(.reset, "reset"))) }),
            (true, { $0.receive("<<<") }),
            (true, { $0.turn(for: 1) { false } }),
        ]
        for (isUnanswered, end) in endings {
            let client = try ConnectedDriver()
            var answers: [Bool] = []
            client.driver.shutDown(endingSessionWithin: 0.1) { answers.append($0) }
            end(client)
            client.turn(for: 0.2) { false }
            #expect(answers == [isUnanswered])
        }
    }
}
