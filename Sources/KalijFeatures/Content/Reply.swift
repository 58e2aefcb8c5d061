import KalijXML

/// The part of a message that says which message is answered (XEP-0461).
struct Reply {
    static let namespace = "urn:xmpp:reply:0"
    /// The id of the answered message.
    let id: String

    /// The reply in a message; nil if the message answers none.
    init?(_ message: Element) {
        guard let id = message.child("reply", Self.namespace)?["id"], !id.isEmpty, id.utf8.count <= 1000 else {
            return nil
        }
        self.id = id
    }
}
