import KalijXML

/// The answer to a publish. The *type* of an error decides the servers' reaction: with any type except `wait` servers
/// forget the device, so such types are only for tokens that are proven dead.
public enum Answer: Sendable, Hashable {
    /// Sent, queued, or covered by a queued push.
    case done
    /// The token is proven dead.
    case dead
    /// Something is against the rules or over a limit.
    case refused
    /// The provider cannot be reached, or does not work at the moment.
    case unavailable
    /// A fault of this server.
    case fault
    /// Not offered here.
    case unsupported
    /// The component's own description (XEP-0030).
    case information
}

extension Answer {
    /// The stanza for the requester, as bytes of a stream with the default namespace `jabber:component:accept`.
    public func bytes(for requester: Requester) -> [UInt8] {
        let namespace = "jabber:component:accept"
        var attributes = ["type": error == nil ? "result" : "error", "id": requester.id, "to": requester.from]
        if !requester.to.isEmpty { attributes["from"] = requester.to }
        let iq = Element("iq", xmlns: namespace, attributes: attributes)
        if let error {
            let element = Element("error", xmlns: namespace, attributes: ["type": error.type])
            element.add(Element(error.condition, xmlns: "urn:ietf:params:xml:ns:xmpp-stanzas"))
            iq.add(element)
        } else if self == .information {
            iq.add(Self.discovery())
        }
        return iq.bytes(in: namespace)
    }

    /// RFC 6120, 8.3.
    var error: (type: String, condition: String)? {
        switch self {
        case .done, .information: nil
        case .dead: ("cancel", "item-not-found")
        case .refused: ("wait", "policy-violation")
        case .unavailable: ("wait", "remote-server-timeout")
        case .fault: ("wait", "internal-server-error")
        case .unsupported: ("cancel", "service-unavailable")
        }
    }

    private static func discovery() -> Element {
        let info = "http://jabber.org/protocol/disco#info"
        let query = Element("query", xmlns: info)
        query.add(Element("identity", xmlns: info, attributes: ["category": "pubsub", "type": "push"]))
        for feature in [info, "urn:xmpp:ping", "urn:xmpp:push:0"] {
            query.add(Element("feature", xmlns: info, attributes: ["var": feature]))
        }
        return query
    }
}
