import KalijFeatures
import KalijStream
import KalijXML

/// What has arrived and is not handled yet.
struct Inbox {
    private var events: [StreamParserEvent] = []
    private var position = 0
    /// What ended the parsing behind the events.
    private(set) var error: XMLError?

    var first: StreamParserEvent? { waiting.first }
    /// All that waits, oldest first.
    var waiting: ArraySlice<StreamParserEvent> { events[position...] }
    /// Whether the last that has come is a result of an archive's page, or a request for an acknowledgement behind one: the
    /// rest of the page is on its way.
    var endsWithinPage: Bool {
        for event in waiting.reversed() {
            guard case .element(let element) = event else { return false }
            if element.name == "r", !StreamManagement.isStanza(element) { continue }
            return ArchiveResults.page(of: element) != nil
        }
        return false
    }
    mutating func append(_ event: StreamParserEvent) { events.append(event) }
    mutating func fail(_ error: XMLError) { self.error = error }

    mutating func removeFirst(_ number: Int = 1) {
        // Cleared meanwhile, there may be less.
        position = min(position + number, events.count)
        if position == events.count { (events, position) = ([], 0) }
    }

    mutating func clear() { self = Inbox() }
}
