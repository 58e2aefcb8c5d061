import KalijStream
import KalijXML

/// Answers what others ask of this client.
struct Responder {
    let step: Step

    /// An `<iq/>` of type get or set; each gets exactly one answer (RFC 6120 8.2.3).
    func answer(_ iq: Element) throws {
        if iq["type"] == "get", iq.child("ping", "urn:xmpp:ping") != nil {
            try step.send(result(of: iq))
        } else if iq["type"] == "get", let query = discoveryQuery(in: iq) {
            guard let answer = OwnCapabilities.current.answer(query) else { return try refuse(iq, .itemNotFound) }
            try step.send(result(of: iq, answer))
        } else {
            try refuse(iq, .serviceUnavailable)
        }
    }

    private func discoveryQuery(in iq: Element) -> Element? {
        iq.child("query", DiscoveryInfo.namespace) ?? iq.child("query", DiscoveryItem.namespace)
    }

    private func refuse(_ iq: Element, _ condition: StanzaError.Condition) throws {
        guard let error = StanzaError(condition).reply(to: iq) else { return }
        try step.send(error)
    }

    private func result(of iq: Element, _ payload: Element? = nil) -> Element {
        var attributes = ["type": "result"]
        attributes["id"] = iq["id"]
        attributes["to"] = iq["from"]
        return Element(
            "iq", xmlns: "jabber:client", attributes: attributes, children: payload.map { [$0] } ?? [])
    }
}
