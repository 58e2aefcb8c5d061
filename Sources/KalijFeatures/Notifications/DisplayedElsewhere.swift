import KalijSteps
import KalijAddress
import KalijHandlers
import KalijStream
import KalijXML

/// Messages that the user has seen on other devices, from a node of the account (XEP-0490): their notifications are
/// withdrawn.
struct DisplayedElsewhere {
    package let step: Step

    static let node = "urn:xmpp:mds:displayed:0"
    private static let pubsub = "http://jabber.org/protocol/pubsub"

    /// The items of an event of the node; nil for any other message and for forged events: only the account itself
    /// publishes there (XEP-0163 section 4.3).
    package static func event(_ message: Element, account: JID) -> Element? {
        guard let items = message.child("event", pubsub + "#event")?.child("items"), items["node"] == node,
            message["from"].map({ JID.received($0) == account }) ?? true
        else { return nil }
        return items
    }

    /// A session began, and presence was announced: requests the earlier items of the node (section 4.4), if there are
    /// notifications to withdraw.
    package func sessionBegan() throws {
        guard try Notifying(step: step).isAny else { return }
        try step.send(
            .request(
                .get,
                Element(
                    "pubsub", xmlns: Self.pubsub,
                    children: [Element("items", xmlns: Self.pubsub, attributes: ["node": Self.node])])),
            then: DisplayedTold(), within: Limits.serverPatience)
    }

    package func told(_ iq: Element) throws {
        guard let items = iq.child("pubsub", Self.pubsub)?.child("items"), items["node"] == Self.node else { return }
        try received(items)
    }

    /// Each item's id is the address of the conversation; the content names the newest message seen there.
    package func received(_ items: Element) throws {
        for item in items.children("item") {
            // A participant of a room has no conversation of its own here.
            guard let jid = item["id"].flatMap({ try? JID($0) }), jid == jid.bare,
                let stamp = item.child("displayed", Self.node)?.child("stanza-id", "urn:xmpp:sid:0"),
                let id = stamp["id"], let by = stamp["by"].map(JID.received)
            else { continue }
            let archive = by == step.account.jid ? Archive.own : Archive(room: by)
            try Notifying(step: step).displayed(archived: id, by: archive, in: jid.description)
        }
    }
}

/// The items of the node have arrived, or do not.
struct DisplayedTold: InvalidatableHandler {
    package static let name = "notifications.displayed"

    func call(_ reply: IQReply, in step: Step) throws {
        // An error means that nothing was ever published, or that the server has no such nodes.
        if case .result(let iq) = reply { try DisplayedElsewhere(step: step).told(iq) }
    }

    /// The next session asks again.
    func invalidate(_ reason: Invalidation, in step: Step) throws {}
}
