import KalijAddress
import KalijXML

/// A copy of a message that another client of the account received or sent (XEP-0280).
struct CarbonCopy {
    /// The message as the other client received or sent it.
    package let message: Element

    /// The namespace of the copies and of the request; also the feature of a server that supports carbons.
    package static let namespace = "urn:xmpp:carbons:2"

    /// The copy in a message stanza; nil if there is no copy, or if the copy must be ignored.
    ///
    /// Only the account's own server may send copies, on behalf of the bare address. Any other copy is forged (XEP-0280 section 11;
    /// CVE-2017-5589 and similar). A copy of a sent message is also forged if the account is not its sender. Groupchat messages are
    /// not eligible for copies (section 6.1): each client in the room receives them.
    package init?(_ wrapper: Element, account: JID) {
        let received = wrapper.child("received", CarbonCopy.namespace)
        guard let copy = received ?? wrapper.child("sent", CarbonCopy.namespace),
            let from = wrapper["from"], JID.received(from) == account,
            let message = copy.child("forwarded", "urn:xmpp:forward:0")?.child("message", "jabber:client"),
            let sender = message["from"], message["type"] != "groupchat"
        else { return nil }
        if received == nil, JID.received(sender).bare != account { return nil }
        self.message = message
    }
}
