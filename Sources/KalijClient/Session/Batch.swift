import KalijFeatures
import KalijStream
import KalijXML

/// Stanzas that arrived together, cut into steps that share a transaction.
///
/// A commit costs several times as much as a step: a page that neighbouring steps have changed is written once instead of once
/// for each step. All changes of a stanza are still committed together, now with the changes of its neighbours. Everything leaves
/// the process after the commit, acknowledgements included. Results of one page of the archive are one step, so that the progress
/// of the reading is written once for all of them.
struct Batch: IteratorProtocol {
    /// The stanzas of one step: a single stanza, or results of one page.
    typealias Part = InboundBatch

    /// The most results of a page in one step.
    private static let mostResults = 50

    private var rest: ArraySlice<StreamParserEvent>
    /// The counters after the stanzas taken.
    private(set) var management: StreamManagement
    /// How many events were taken.
    private(set) var taken = 0
    /// How many `<r/>` are among the events taken.
    private(set) var requests = 0
    /// Whether a stanza is to be handled by itself, and ends the batch.
    private let isAlone: (Element) -> Bool

    /// Nil where the first of `events` is no stanza or is alone: then the first event is handled by itself.
    /// - Parameter events: the events that wait.
    init?(
        _ events: ArraySlice<StreamParserEvent>, _ management: StreamManagement,
        isAlone: @escaping (Element) -> Bool = { _ in false }
    ) {
        guard events.count > 1, case .element(let first) = events.first, first.isStanza,
            !isAlone(first)
        else { return nil }
        (rest, self.management, self.isAlone) = (events, management, isAlone)
    }

    mutating func next() -> Part? {
        guard let first = takeStanza() else { return nil }
        var stanzas = [first]
        let page = ArchiveResults.page(of: first)
        takeRequests()
        while let page, stanzas.count < Self.mostResults, case .element(let next)? = rest.first,
            ArchiveResults.page(of: next) == page, let result = takeStanza()
        {
            stanzas.append(result)
            takeRequests()
        }
        return Part(stanzas: stanzas, count: management.handled)
    }

    private mutating func takeStanza() -> Element? {
        guard case .element(let element)? = rest.first, !isAlone(element), management.receive(stanza: element) else {
            return nil
        }
        rest.removeFirst()
        taken += 1
        return element
    }

    private mutating func takeRequests() {
        while case .element(let element)? = rest.first, StreamManagement.isRequest(element) {
            rest.removeFirst()
            taken += 1
            requests += 1
        }
    }
}
