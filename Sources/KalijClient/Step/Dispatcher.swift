import KalijXML

/// Hands an inbound stanza to the feature that it is for.
struct Dispatcher {
    let step: Step

    /// A stanza, or results of one page.
    func handle(_ stanzas: [Element]) throws {
        if stanzas.count > 1 { return try ArchiveResults(step: step).handle(stanzas) }
        for stanza in stanzas { try handle(stanza) }
    }

    func handle(_ stanza: Element) throws {
        switch stanza.name {
        case "message": try message(stanza)
        case "iq": try iq(stanza)
        case "presence": try Announcements(step: step).received(stanza)
        default: break
        }
    }

    /// A stanza that was set aside and is processed after all; a message gets the order number `position`.
    func handle(again stanza: Element, at position: Int64?) throws {
        guard stanza.name == "message" else { return try handle(stanza) }
        if let result = stanza.child("result", "urn:xmpp:mam:2") {
            try ArchiveResults(step: step).handle(again: result, in: stanza, at: position)
        } else {
            let copy = CarbonCopy(stanza, account: step.account.jid)
            try Messages(step: step).receive(copy?.message ?? stanza, at: position)
        }
    }

    private func message(_ message: Element) throws {
        if message.child("result", "urn:xmpp:mam:2") != nil {
            try ArchiveResults(step: step).handle([message])
        } else if let copy = CarbonCopy(message, account: step.account.jid) {
            try Messages(step: step).receive(copy.message)
        } else if let event = DisplayedElsewhere.event(message, account: step.account.jid) {
            try DisplayedElsewhere(step: step).received(event)
        } else {
            try Messages(step: step).receive(message)
        }
    }

    private func iq(_ iq: Element) throws {
        switch iq["type"] {
        case "get", "set":
            try Responder(step: step).answer(iq)
        case "result", "error":
            try Requests(step: step).answered(by: iq)
        default: break
        }
    }
}
