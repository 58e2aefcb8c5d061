import KalijCore
import KalijStream
import KalijXML

/// Events of the stream that were received and are not handled yet.
package struct Inbox {
    /// When the events are handled.
    package enum Turn: Equatable {
        case now
        /// In the loop's next turn: further bytes are read first, so that their events can be handled together with the present
        /// ones.
        case next
        /// When the rest of an archive page was received, or after a timeout.
        case withPage
    }

    /// How many events are read before any is handled.
    private static let maxEvents = 200

    private var events: [StreamParserEvent] = []
    private var position = 0
    /// The error that ended the parsing, after the events.
    package private(set) var error: (any Error)?
    /// How many of the next events are handled individually, because handling them together has failed.
    package private(set) var alone = 0

    package var first: StreamParserEvent? { waiting.first }
    /// All waiting events, oldest first.
    package var waiting: ArraySlice<StreamParserEvent> { events[position...] }

    /// When to handle the waiting events, within a session.
    /// - Parameter gathers: whether the results of a page wait for the rest of the page.
    package func turn(gathers: Bool) -> Turn {
        guard error == nil, waiting.count < Self.maxEvents else { return .now }
        return gathers && endsWithinPage ? .withPage : .next
    }

    /// Whether the last event is a result of an archive page, or an `<r/>` after such a result: further results of the page are
    /// expected.
    private var endsWithinPage: Bool {
        for event in waiting.reversed() {
            guard case .element(let element) = event else { return false }
            if StreamManagement.isRequest(element) { continue }
            return ArchiveResult.page(of: element) != nil
        }
        return false
    }

    package mutating func append(_ event: StreamParserEvent) { events.append(event) }
    package mutating func fail(_ error: any Error) { self.error = error }

    /// `number` events could not be handled together.
    package mutating func handleAlone(_ number: Int) { alone = number }

    package mutating func removeFirst(_ number: Int = 1) {
        alone = max(0, alone - number)
        // After a call of `clear()` there may be fewer events.
        position = min(position + number, events.count)
        if position == events.count { (events, position) = ([], 0) }
    }

    package mutating func clear() { self = Inbox() }
}
