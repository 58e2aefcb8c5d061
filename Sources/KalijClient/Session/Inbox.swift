import KalijFeatures
import KalijStream
import KalijXML

/// What has arrived and is not handled yet.
struct Inbox {
    /// When what has arrived is handled.
    enum Turn: Equatable {
        case now
        /// In the loop's next turn: what else is there to be read is read first, so that it can be handled together.
        case next
        /// When the rest of an archive's page has come, at the latest after a while.
        case withPage
    }

    /// How much is read before it is handled.
    private static let longest = 200

    private var events: [StreamParserEvent] = []
    private var position = 0
    /// What ended the parsing after the events.
    private(set) var error: (any Error)?
    /// How many of the next events are handled one by one, because handling them together has failed.
    private(set) var alone = 0

    var first: StreamParserEvent? { waiting.first }
    /// All that waits, oldest first.
    var waiting: ArraySlice<StreamParserEvent> { events[position...] }

    /// When what waits is handled, within a session.
    /// - Parameter gathers: whether the results of a page wait for one another.
    func turn(gathers: Bool) -> Turn {
        guard error == nil, waiting.count < Self.longest else { return .now }
        return gathers && endsWithinPage ? .withPage : .next
    }

    /// Whether the last that has come is a result of an archive's page, or a request for an acknowledgement after one: the
    /// rest of the page is on its way.
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

    /// So many could not be handled together.
    mutating func handleAlone(_ number: Int) { alone = number }

    mutating func removeFirst(_ number: Int = 1) {
        alone = max(0, alone - number)
        // Cleared meanwhile, there may be less.
        position = min(position + number, events.count)
        if position == events.count { (events, position) = ([], 0) }
    }

    mutating func clear() { self = Inbox() }
}
