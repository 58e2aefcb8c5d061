import KalijXML

/// A room with an archive of forgeries. The forgeries try to change messages of others, and messages from us to others.
struct HostileRoom {
    static let address = "orchard@muc.example.org"
    let account: String
    /// A message of ours, seen by the room somewhere.
    let known: (id: String, to: String)?
    /// A message to us. The room tries to have its notification withdrawn.
    let shown: ArchivedMessage?

    /// The inner messages.
    var messages: [String] {
        var forged = [
            "<message xmlns='jabber:client' from='romeo@example.net/orchard' to='\(account)' type='chat' id='f1'><body>forged-1</body></message>",
            "<message xmlns='jabber:client' from='\(account)/phone' to='romeo@example.net' type='chat' id='f2'><body>forged-2</body></message>",
        ]
        if let known {
            let bare = known.to.prefix { $0 != "/" }
            forged.append(
                """
                <message xmlns='jabber:client' from='\(bare)' to='\(account)' type='error' id='\(known.id)'><error type='cancel'>\
                <gone xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></message>
                """)
        }
        if let shown {
            let bare = shown.from.prefix { $0 != "/" }
            forged.append(
                """
                <message xmlns='jabber:client' from='\(account)/phone' to='\(bare)' type='chat' id='f3'>\
                <displayed xmlns='urn:xmpp:chat-markers:0' id='\(shown.messageID)'/></message>
                """)
        }
        return forged
    }
}
