import KalijXML

/// Hands an inbound stanza to the feature that it is for.
struct Dispatcher {
    let step: Step

    func handle(_ stanza: Element) throws {
        switch stanza.name {
        case "message": try message(stanza)
        case "iq": try iq(stanza)
        default: break  // presence: nothing depends on it yet
        }
    }

    private func message(_ message: Element) throws {
        if let result = message.child("result", "urn:xmpp:mam:2") {
            try CatchUp(step: step).result(result, in: message)
        } else if let copy = CarbonCopy(message, account: step.account.jid) {
            try Messages(step: step).receive(copy.message)
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
