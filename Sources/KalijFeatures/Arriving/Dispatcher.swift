import KalijCore
import KalijXML

/// Dispatches an inbound stanza to its features.
package struct Dispatcher {
    package let step: Step

    package init(step: Step) { self.step = step }

    /// Handles a batch in a step of its own, and counts it as handled.
    package static func handle(_ arrival: InboundBatch, in step: Step) throws {
        try step.count(arrival.count)
        if arrival.stanzas.count > 1 { return try ArchiveResults(step: step).handle(arrival.stanzas) }
        for stanza in arrival.stanzas { try Dispatcher(step: step).handle(stanza) }
    }

    private func handle(_ stanza: Element) throws {
        switch stanza.name {
        case "message": try message(stanza, at: nil)
        case "iq": try iq(stanza)
        case "presence":
            for observer in step.hooks.presenceObservers { try observer.didReceivePresence(stanza, in: step) }
        default: break
        }
    }

    /// Handles a stanza that was quarantined before; a message gets the order number `position`.
    package func handle(again stanza: Element, at position: Int64?) throws {
        guard stanza.name == "message" else { return try handle(stanza) }
        guard let result = stanza.child("result", "urn:xmpp:mam:2") else { return try message(stanza, at: position) }
        try ArchiveResults(step: step).handle(again: result, in: stanza, at: position)
    }

    /// Unwraps an archive result or a carbon copy.
    private func message(_ stanza: Element, at position: Int64?) throws {
        if stanza.child("result", "urn:xmpp:mam:2") != nil { return try ArchiveResults(step: step).handle([stanza]) }
        if let copy = CarbonCopy(stanza, account: step.account.jid) {
            return try IncomingPipeline(step: step).deliver(copy.message, .carbon, at: position)
        }
        try IncomingPipeline(step: step).deliver(stanza, .live, at: position)
    }

    private func iq(_ iq: Element) throws {
        switch iq["type"] {
        case "get", "set": try IQResponder(step: step).answer(iq)
        case "result", "error": try Requests(step: step).answered(by: iq)
        default: break
        }
    }
}
