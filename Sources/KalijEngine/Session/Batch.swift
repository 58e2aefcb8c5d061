import KalijCore
import KalijStream
import KalijXML

/// Stanzas that were received together, split into steps that share a transaction.
///
/// A commit costs several times as much as a step: a page that consecutive steps change is written once instead of once for each
/// step. All changes of a stanza are still committed together, now with the changes of its neighbours. Nothing is sent or emitted
/// before the commit, acknowledgements included. Results of one archive page are one step, so that the progress of the sync is
/// written once for all of them.
package struct Batch: IteratorProtocol {
    /// The stanzas of one step: a single stanza, or results of one page.
    package typealias Part = InboundBatch

    /// The most results of a page in one step.
    private static let maxResults = 50

    private var rest: ArraySlice<StreamParserEvent>
    /// The counters after the consumed stanzas.
    package private(set) var management: StreamManagement
    /// How many events were consumed.
    package private(set) var consumed = 0
    /// How many `<r/>` are among the consumed events.
    package private(set) var requests = 0
    /// Whether a stanza requires a transaction of its own, and so ends the batch.
    private let isAlone: (Element) -> Bool

    /// Nil if the first of `events` is not a stanza, or requires a transaction of its own: that event is handled individually.
    /// - Parameter events: the waiting events.
    package init?(
        _ events: ArraySlice<StreamParserEvent>, _ management: StreamManagement,
        isAlone: @escaping (Element) -> Bool = { _ in false }
    ) {
        guard events.count > 1, case .element(let first) = events.first, first.isStanza,
            !isAlone(first)
        else { return nil }
        (rest, self.management, self.isAlone) = (events, management, isAlone)
    }

    package mutating func next() -> Part? {
        guard let first = consumeStanza() else { return nil }
        var stanzas = [first]
        let page = ArchiveResult.page(of: first)
        consumeRequests()
        while let page, stanzas.count < Self.maxResults, case .element(let next)? = rest.first,
            ArchiveResult.page(of: next) == page, let result = consumeStanza()
        {
            stanzas.append(result)
            consumeRequests()
        }
        return Part(stanzas: stanzas, count: management.handled)
    }

    private mutating func consumeStanza() -> Element? {
        guard case .element(let element)? = rest.first, !isAlone(element), management.receive(stanza: element) else {
            return nil
        }
        rest.removeFirst()
        consumed += 1
        return element
    }

    private mutating func consumeRequests() {
        while case .element(let element)? = rest.first, StreamManagement.isRequest(element) {
            rest.removeFirst()
            consumed += 1
            requests += 1
        }
    }
}
