import KalijXML

/// Passes the client's stanzas to the server's features.
extension SimulatedServer {
    func handle(_ stanza: Element, from session: ServerSession) {
        omemo.look(at: stanza)
        switch stanza.name {
        case "message" where stanza["type"] == "groupchat":
            feature(SimulatedMUC.self).said(stanza, by: session)
        case "message": for feature in features { feature.sent(stanza, by: session) }
        case "presence": for feature in features { feature.present(stanza, of: session) }
        default: if ["get", "set"].contains(stanza["type"]) { answer(stanza, to: session) }
        }
    }

    private func answer(_ iq: Element, to session: ServerSession) {
        let recipient = iq["to"] ?? account
        guard recipient.hasPrefix(account) || recipient == domain else {
            _ = features.contains { $0.forward(iq, to: recipient, of: session) }
            return
        }
        for feature in features {
            switch feature.answer(iq, of: session) {
            case .result(let payload): return answer(iq, "result", to: session, payload)
            case .error(let condition, let type): return refuse(iq, to: session, condition, type)
            case nil: continue
            }
        }
        refuse(iq, to: session, "service-unavailable", "cancel")
    }

    private func refuse(_ iq: Element, to session: ServerSession, _ condition: String, _ type: String) {
        answer(
            iq, "error", to: session,
            "<error type='\(type)'><\(condition) xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error>")
    }

    private func answer(_ iq: Element, _ type: String, to session: ServerSession, _ payload: String) {
        send("<iq type='\(type)' id='\(iq["id"] ?? "")' to='\(address(session))'>\(payload)</iq>", to: session)
    }
}
