import KalijFeatures
import KalijStream
import KalijXML

/// Events of the stream that were received and are not handled yet.
struct Inbox {
    /// When the events are handled.
    enum Turn: Equatable {
        case now
        /// In the loop's next turn: further bytes are read first, so that their events can be handled together with the present
        /// ones.
        case next
        /// When the rest of an archive page was received, or after a timeout.
        case withPage
    }

    /// How many events are read before any is handled.
    private static let longest = 200

    private var events: [StreamParserEvent] = []
    private var position = 0
    /// The error that ended the parsing, after the events.
    private(set) var error: (any Error)?
    /// How many of the next events are handled individually, because handling them together has failed.
    private(set) var alone = 0

    var first: StreamParserEvent? { waiting.first }
    /// All waiting events, oldest first.
    var waiting: ArraySlice<StreamParserEvent> { events[position...] }

    /// When to handle the waiting events, within a session.
    /// - Parameter gathers: whether the results of a page wait for the rest of the page.
    func turn(gathers: Bool) -> Turn {
        guard error == nil, waiting.count < Self.longest else { return .now }
        return gathers && endsWithinPage ? .withPage : .next
    }

    /// Whether the last event is a result of an archive page, or an `<r/>` after such a result: further results of the page are
    /// expected.
    private var endsWithinPage: Bool {
        for event in waiting.reversed() {
            guard case .element(let element) = event else { return false }
            if StreamManagement.isRequest(element) { continue }
            return ArchiveResults.page(of: element) != nil
        }
        return false
    }

    mutating func append(_ event: StreamParserEvent) { events.append(event) }
    mutating func fail(_ error: any Error) { self.error = error }

    /// `number` events could not be handled together.
    mutating func handleAlone(_ number: Int) { alone = number }

    mutating func removeFirst(_ number: Int = 1) {
        alone = max(0, alone - number)
        // After a call of `clear()` there may be fewer events.
        position = min(position + number, events.count)
        if position == events.count { (events, position) = ([], 0) }
    }

    mutating func clear() { self = Inbox() }
}
