import KalijCore
import KalijFeatures
import KalijAddress
import Synchronization

/// The events of a running engine, as an asynchronous sequence that ends with the engine.
///
/// Each loop receives every event from its start; the first loop also receives the events since the start of the engine. An event
/// is emitted after its commit, so the database always contains its effects. The engine does not wait for slow loops: a loop that
/// is more than 1,000 events behind receives the number of missed events (`EventsDropped`) and reads the database.
public struct EngineEvents: AsyncSequence, Sendable {
    public typealias Element = EngineEvent
    public typealias Failure = Never
    let hub: EventHub

    /// Starts a loop: events are buffered for it from now on.
    public func makeAsyncIterator() -> Iterator { Iterator(reader: hub.reader()) }

    /// One loop over the events.
    public struct Iterator: AsyncIteratorProtocol {
        public typealias Failure = Never
        let reader: EventReader

        /// The next event; nil once the engine has ended, or if the task is cancelled.
        public mutating func next() async -> EngineEvent? { await reader.next() }
    }
}

/// Distributes events to their readers.
final class EventHub: Sendable {
    private struct State {
        var readers: [Weak] = []
        /// For the first loop: events between the start of the engine and of the loop are not lost.
        var first: EventReader?
        var isEnded = false
    }

    private struct Weak { weak var reader: EventReader? }

    private let state: Mutex<State>

    init() {
        let first = EventReader()
        state = Mutex(State(readers: [Weak(reader: first)], first: first))
    }

    func reader() -> EventReader {
        state.withLock { state in
            if let first = state.first {
                state.first = nil
                return first
            }
            let reader = EventReader()
            if state.isEnded { reader.end() } else { state.readers.append(Weak(reader: reader)) }
            return reader
        }
    }

    func send(_ event: EngineEvent) { readers().forEach { $0.add(event) } }

    func end() {
        state.withLock { $0.isEnded = true }
        readers().forEach { $0.end() }
    }

    private func readers() -> [EventReader] {
        state.withLock { state in
            state.readers.removeAll { $0.reader == nil }
            return state.readers.compactMap(\.reader)
        }
    }
}

/// The unread events of a loop.
final class EventReader: Sendable {
    private struct State {
        var events: ArraySlice<EngineEvent> = []
        /// The last missed event of each account, and the number of missed events.
        var missed: [(event: EngineEvent, count: Int)] = []
        var last = 0
        var waiting: [(number: Int, continuation: CheckedContinuation<EngineEvent?, Never>)] = []
        var isEnded = false

        mutating func dequeue() -> EngineEvent? {
            if let event = events.popFirst() { return event }
            guard let (event, count) = missed.popLast() else { return nil }
            return EngineEvent(account: event.account, at: event.at, content: EventsDropped(count: count))
        }

        mutating func miss(_ event: EngineEvent) {
            let index = missed.firstIndex { $0.event.account == event.account } ?? missed.count
            if index == missed.count { missed.append((event, 0)) }
            missed[index] = (event, missed[index].count + 1)
        }
    }

    /// The maximum number of buffered events.
    static let limit = 1000
    private let state = Mutex(State())

    func add(_ event: EngineEvent) {
        let waiting = state.withLock { state -> CheckedContinuation<EngineEvent?, Never>? in
            guard state.waiting.isEmpty else { return state.waiting.removeFirst().continuation }
            // Once an event was missed, later events count as missed, too, until the reader receives `EventsDropped`.
            if state.events.count < Self.limit, state.missed.isEmpty {
                state.events.append(event)
            } else {
                state.miss(event)
            }
            return nil
        }
        waiting?.resume(returning: event)
    }

    func end() {
        let waiting = state.withLock { state in
            state.isEnded = true
            defer { state.waiting = [] }
            return state.waiting.map(\.continuation)
        }
        waiting.forEach { $0.resume(returning: nil) }
    }

    func next() async -> EngineEvent? {
        let number = state.withLock { state in
            state.last += 1
            return state.last
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { add($0, number) }
        } onCancel: {
            cancel(number)
        }
    }

    private func add(_ continuation: CheckedContinuation<EngineEvent?, Never>, _ number: Int) {
        let (isOver, event) = state.withLock { state -> (Bool, EngineEvent?) in
            if let event = state.dequeue() { return (true, event) }
            if state.isEnded || Task.isCancelled { return (true, nil) }
            state.waiting.append((number, continuation))
            return (false, nil)
        }
        if isOver { continuation.resume(returning: event) } else if Task.isCancelled { cancel(number) }
    }

    private func cancel(_ number: Int) {
        let waiting = state.withLock { state in
            state.waiting.firstIndex { $0.number == number }.map { state.waiting.remove(at: $0).continuation }
        }
        waiting?.resume(returning: nil)
    }
}
