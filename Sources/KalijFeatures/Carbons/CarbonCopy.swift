import KalijAddress
import KalijXML

/// A copy of a message that another client of the account got or sent (XEP-0280).
struct CarbonCopy {
    /// The message as the other client got or sent it.
    package let message: Element

    /// That of the copies, and of the request for them; also the feature by which a server announces that it can.
    package static let namespace = "urn:xmpp:carbons:2"

    /// The copy in a message stanza; nil if it holds none, or one that is to be ignored.
    ///
    /// Only the account's own server may send copies, in the name of the bare address: any other copy is somebody's who
    /// pretends that others have said things (XEP-0280 section 11; CVE-2017-5589 and its like). So is a copy of a sent
    /// message that the account did not send.
    package init?(_ wrapper: Element, account: JID) {
        guard let from = wrapper["from"], JID.received(from) == account else { return nil }
        let received = wrapper.child("received", CarbonCopy.namespace)
        guard let copy = received ?? wrapper.child("sent", CarbonCopy.namespace),
            let message = copy.child("forwarded", "urn:xmpp:forward:0")?.child("message", "jabber:client"),
            let sender = message["from"]
        else { return nil }
        if received == nil, JID.received(sender).bare != account { return nil }
        self.message = message
    }
}
