import KalijXML

/// What is sent again in a new session though the user did not write it: receipts and chat markers, which nobody else
/// repeats and which may arrive twice. Chat states and presence are of the moment.
enum Lasting {
    static func includes(_ stanza: Element) -> Bool {
        guard stanza.name == "message" else { return false }
        return stanza.children.contains { child in
            child.isNamed("received", "urn:xmpp:receipts")
                || ["received", "displayed", "acknowledged"].contains { child.isNamed($0, "urn:xmpp:chat-markers:0") }
        }
    }
}
