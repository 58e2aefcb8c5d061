import KalijXML

/// Dispatches an inbound stanza to its features.
package struct Dispatcher {
    package let step: Step

    package init(step: Step) { self.step = step }

    /// Handles a batch in a step of its own, and counts it as handled.
    package static func handle(_ arrival: InboundBatch, in step: Step) throws {
        try step.count(arrival.count)
        try Dispatcher(step: step).handle(arrival.stanzas, from: .stream)
    }

    /// Handles a stanza that was quarantined before; a message gets the order number `position`.
    package func handle(again stanza: Element, at position: Int64?) throws {
        try handle([stanza], from: .quarantine(position: position))
    }

    private func handle(_ stanzas: [Element], from origin: StanzaOrigin) throws {
        for interceptor in step.hooks.stanzaInterceptors
        where try interceptor.intercept(stanzas, from: origin, in: step) {
            return
        }
        for stanza in stanzas { try handle(stanza, at: origin.position) }
    }

    private func handle(_ stanza: Element, at position: Int64?) throws {
        switch stanza.name {
        case "message": try IncomingPipeline(step: step).deliver(stanza, .live, at: position)
        case "iq" where ["result", "error"].contains(stanza["type"]): try Requests(step: step).answered(by: stanza)
        case "presence":
            for observer in step.hooks.presenceObservers { try observer.didReceivePresence(stanza, in: step) }
        default: break
        }
    }
}
