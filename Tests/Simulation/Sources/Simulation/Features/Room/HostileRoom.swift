import KalijXML

/// A room whose archive shows what was never said in it, to change what others have said or what we have said to them.
struct HostileRoom {
    static let address = "orchard@muc.example.org"
    let account: String
    /// A message of ours that the room has seen somewhere.
    let known: (id: String, to: String)?
    /// A message to us whose notification it would like to have withdrawn.
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
