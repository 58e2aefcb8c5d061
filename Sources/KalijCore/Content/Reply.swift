import KalijXML

/// The element of a message that references the message replied to (XEP-0461).
package struct Reply {
    package static let namespace = "urn:xmpp:reply:0"
    /// The id of the message replied to.
    package let id: String

    /// The reference in a message; nil if the message is no reply.
    package init?(_ message: Element) {
        guard let id = message.child("reply", Self.namespace)?["id"], !id.isEmpty, id.utf8.count <= 1000 else {
            return nil
        }
        self.id = id
    }
}
