import KalijAddress
import KalijXML

extension Inbound {
    private static let pubsub = "http://jabber.org/protocol/pubsub"
    private static let push = "urn:xmpp:push:0"
    private static let form = "jabber:x:data"

    /// Reads a stanza of a component's stream.
    ///
    /// - Parameters:
    ///   - stanza: with any default namespace: servers send `jabber:component:accept`.
    ///   - tokenBytes: the longest token.
    public init(_ stanza: Element, tokenBytes: Int) {
        guard stanza.name == "iq", let type = stanza["type"], type == "get" || type == "set", let from = stanza["from"]
        else {
            self = .ignored
            return
        }
        let requester = Requester(id: stanza["id"] ?? "", from: from, to: stanza["to"] ?? "")
        guard let payload = stanza.children.first else {
            self = .unsupported(requester)
            return
        }
        if type == "get" {
            self = Self.readGet(payload, requester)
        } else if payload.isNamed("pubsub", Self.pubsub), payload.child("publish") != nil {
            self = Self.readPublish(payload, requester, tokenBytes)
        } else {
            self = .unsupported(requester)
        }
    }

    /// Reads a stanza over a limit of the parser: a publish, if anything, that is too large.
    public init(_ skipped: SkippedElement) {
        let attributes = skipped.attributes
        guard skipped.name == "iq", let type = attributes["type"], type == "get" || type == "set",
            let from = attributes["from"]
        else {
            self = .ignored
            return
        }
        let requester = Requester(id: attributes["id"] ?? "", from: from, to: attributes["to"] ?? "")
        // The node, which a user chooses, may be what is too large.
        self = .unusable(requester, reason: "over the limit \(skipped.limit)")
    }

    private static func readGet(_ payload: Element, _ requester: Requester) -> Inbound {
        if payload.isNamed("query", "http://jabber.org/protocol/disco#info"), payload["node"] == nil {
            return .discovery(requester)
        }
        return payload.isNamed("ping", "urn:xmpp:ping") ? .ping(requester) : .unsupported(requester)
    }

    private static func readPublish(_ pubsub: Element, _ requester: Requester, _ tokenBytes: Int) -> Inbound {
        let sender = JID.received(requester.from)
        // A server publishes as itself, or for a user's account. A full address is a user's client.
        guard sender.resource == nil else { return .unusable(requester, reason: "sent by a client") }
        let domain = sender.domain
        func malformed(_ reason: String) -> Inbound { .malformed(requester, domain: domain, reason: reason) }
        let publishes = pubsub.children("publish")
        guard publishes.count == 1, let publish = publishes.first, publish.namespace == Self.pubsub else {
            return malformed("not one publish")
        }
        // The node is the user's choice when the push is enabled (XEP-0357 section 5).
        func unusable(_ reason: String) -> Inbound { .unusable(requester, reason: reason) }
        guard let token = publish["node"], !token.isEmpty else { return unusable("no node") }
        guard token.utf8.count <= tokenBytes else { return unusable("the node is too long") }
        guard token.utf8.allSatisfy({ 0x21...0x7e ~= $0 }) else { return unusable("the node is no token") }
        let items = publish.children("item", Self.pubsub)
        guard items.count == 1, publish.children.count == 1, let item = items.first else {
            return malformed("not one item")
        }
        guard let notification = item.child("notification", Self.push), item.children.count == 1 else {
            return malformed("the item is no notification")
        }
        let options = pubsub.child("publish-options", Self.pubsub)
        let module = options.flatMap { field("pushModule", in: $0) }
        let body = field("last-message-body", in: notification)
        return .publish(
            Publish(
                requester: requester, domain: domain, token: token, module: module, isImportant: body != nil))
    }

    /// The first value of a field in the forms of an element; nil if missing or empty.
    private static func field(_ name: String, in element: Element) -> String? {
        for form in element.children("x", Self.form) {
            for field in form.children("field", Self.form) where field["var"] == name {
                if let value = field.child("value", Self.form)?.text, !value.isEmpty { return value }
            }
        }
        return nil
    }
}
