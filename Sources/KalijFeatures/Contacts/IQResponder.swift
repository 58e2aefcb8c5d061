import KalijCore
import KalijAddress
import KalijStream
import KalijXML

/// Responds to requests from other entities.
struct IQResponder {
    package let step: Step

    /// Responds to an `<iq/>` of type get or set; each gets exactly one response (RFC 6120 8.2.3).
    package func answer(_ iq: Element) throws {
        let subscribers = Subscribers(step: step)
        switch try subscribers.authorization(iq["from"].map(JID.received)) {
        case .may: try answerFriend(iq)
        case .mayNot: try refuse(iq, .serviceUnavailable)
        case .unknown: if try !subscribers.postpone(iq) { try refuse(iq, .serviceUnavailable) }
        }
    }

    /// Responds to a postponed request once the roster is available, or will not be in this session. Unless the sender may learn that the
    /// client is online, the response is an error.
    func answerPostponed(_ iq: Element) throws {
        let isFriend = try Subscribers(step: step).authorization(iq["from"].map(JID.received)) == .may
        if isFriend { try answerFriend(iq) } else { try refuse(iq, .serviceUnavailable) }
    }

    /// A request that no feature handles gets the error that a server returns for an unavailable resource (RFC 6121 8.5.3.2.3).
    private func answerFriend(_ iq: Element) throws {
        for responder in step.hooks.requestResponders {
            switch try responder.respond(to: iq, in: step) {
            case .result(let payload): return try send(result(of: iq, payload))
            case .error(let condition): return try refuse(iq, condition)
            case nil: continue
            }
        }
        try refuse(iq, .serviceUnavailable)
    }

    private func refuse(_ iq: Element, _ condition: StanzaError.Condition) throws {
        guard let error = StanzaError(condition).reply(to: iq) else { return }
        try send(error)
    }

    /// A response repeats the request's id. No response is sent if the id makes the stanza exceed the server's limit.
    private func send(_ answer: Element) throws {
        do { try step.send(answer) } catch is StanzaTooLong {}
        step.flush(answers: 1)
    }

    private func result(of iq: Element, _ payload: Element? = nil) -> Element {
        var attributes = ["type": "result"]
        attributes["id"] = iq["id"]
        attributes["to"] = iq["from"]
        return Element(
            "iq", xmlns: "jabber:client", attributes: attributes, children: payload.map { [$0] } ?? [])
    }
}
