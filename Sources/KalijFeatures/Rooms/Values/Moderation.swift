import KalijXML

/// Retraction of a message by a moderator, for all occupants (XEP-0425).
enum Moderation {
    static let namespace = "urn:xmpp:message-moderate:1"
    static let former = "urn:xmpp:message-moderate:0"
    private static let fastening = "urn:xmpp:fasten:0"

    static func new(_ id: String, _ reason: String?) -> Element {
        let element = Element(
            "moderate", xmlns: namespace, attributes: ["id": id],
            children: [Element("retract", xmlns: "urn:xmpp:message-retract:1")])
        if let reason { element.add(Element("reason", xmlns: namespace, text: reason)) }
        return element
    }

    static func old(_ id: String, _ reason: String?) -> Element {
        let element = Element(
            "moderate", xmlns: former, children: [Element("retract", xmlns: "urn:xmpp:message-retract:0")])
        if let reason { element.add(Element("reason", xmlns: former, text: reason)) }
        return Element("apply-to", xmlns: fastening, attributes: ["id": id], children: [element])
    }

    /// The archive's id of the message that a room has retracted by `message`; nil for any other message. The caller has to check that
    /// the room itself, and not an occupant, has sent it (section 4).
    static func target(of message: Element) -> String? {
        if let retract = message.child("retract", "urn:xmpp:message-retract:1"),
            retract.child("moderated", namespace) != nil
        {
            return id(retract)
        }
        if let fastening = message.child("apply-to", fastening), fastening.child("moderated", former) != nil {
            return id(fastening)
        }
        return nil
    }

    private static func id(_ element: Element) -> String? {
        element["id"].flatMap { $0.isEmpty || $0.utf8.count > 1000 ? nil : $0 }
    }
}
