import KalijLab
import KalijAddress
import Testing

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

@Suite struct EngineEventsTests {
    private func event(_ reason: String, _ account: String = "juliet@example.org") throws -> EngineEvent {
        EngineEvent(account: try JID(account), at: 1, content: Refused(reason: Reason(.loginRefused, reason)))
    }

    private func read(_ iterator: inout EngineEvents.Iterator, _ count: Int) async -> [String] {
        var told: [String] = []
        for _ in 0..<count { if let event = await iterator.next() { told.append("\(event.account) \(event.short)") } }
        return told
    }

    @Test("the first loop gets the events since the engine began, later loops the events from then on")
    func begin() async throws {
        let hub = EventHub()
        hub.send(try event("one"))
        var first = EngineEvents(hub: hub).makeAsyncIterator()
        var second = EngineEvents(hub: hub).makeAsyncIterator()
        hub.send(try event("two"))
        hub.end()
        let (all, some) = (await read(&first, 9), await read(&second, 9))
        #expect(all == ["juliet@example.org refused: one", "juliet@example.org refused: two"])
        #expect(some == ["juliet@example.org refused: two"])
        var late = EngineEvents(hub: hub).makeAsyncIterator()
        #expect(await late.next() == nil)
    }

    @Test("a slow loop costs bounded memory, and is told how many events of each account were missed")
    func missed() async throws {
        let hub = EventHub()
        var iterator = EngineEvents(hub: hub).makeAsyncIterator()
        for number in 0..<EventReader.limit + 3 { hub.send(try event("\(number)")) }
        hub.send(try event("other", "nurse@example.org"))
        #expect(await read(&iterator, EventReader.limit).last == "juliet@example.org refused: \(EventReader.limit - 1)")
        hub.send(try event("meanwhile"))
        var missed: [String: Int] = [:]
        for _ in 0..<2 {
            let event = try #require(await iterator.next())
            guard let count = (event.content as? EventsDropped)?.count else { throw CancellationError() }
            missed[event.account.description] = count
        }
        #expect(missed == ["juliet@example.org": 4, "nurse@example.org": 1])
        hub.send(try event("after"))
        #expect(await read(&iterator, 1) == ["juliet@example.org refused: after"])
    }

    @Test("a waiting loop is told at once, and an ended loop is forgotten")
    func waits() async throws {
        let hub = EventHub()
        let task = Task {
            var iterator = EngineEvents(hub: hub).makeAsyncIterator()
            return await read(&iterator, 1)
        }
        try await sleep(for: .milliseconds(20))
        hub.send(try event("one"))
        #expect(await task.value == ["juliet@example.org refused: one"])
        hub.send(try event("two"))
        hub.end()
    }
}
