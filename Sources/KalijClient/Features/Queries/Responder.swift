import KalijStream
import KalijXML

/// Answers what others ask of this client.
struct Responder {
    let step: Step

    /// An `<iq/>` of type get or set; each gets exactly one answer (RFC 6120 8.2.3).
    func answer(_ iq: Element) throws {
        if iq["type"] == "get", iq.child("ping", "urn:xmpp:ping") != nil {
            try step.send(result(of: iq))
        } else {
            guard let error = StanzaError(.serviceUnavailable).reply(to: iq) else { return }
            try step.send(error)
        }
    }

    private func result(of iq: Element) -> Element {
        var attributes = ["type": "result"]
        attributes["id"] = iq["id"]
        attributes["to"] = iq["from"]
        return Element("iq", xmlns: "jabber:client", attributes: attributes)
    }
}
