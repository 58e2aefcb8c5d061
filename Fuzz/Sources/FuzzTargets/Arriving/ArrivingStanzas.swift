extension ArrivingScript {
    private static let muc = "http://jabber.org/protocol/muc#user"
    private static let room = ArrivingAccount.room

    /// Stanzas with `%` for an identifier and `$` for a text, in every place that somebody else fills.
    static let stanzas = contents.flatMap { [chat($0), groupchat($0), direct($0), copy($0)] } + others

    private static func chat(_ content: String) -> String {
        "<message xmlns='jabber:client' from='%@example.net/%' to='juliet@example.org' type='chat' id='%'>\(content)</message>"
    }

    private static func groupchat(_ content: String) -> String {
        """
        <message xmlns='jabber:client' from='\(room)/%' type='groupchat' id='%'>\(content)\
        <stanza-id xmlns='urn:xmpp:sid:0' by='\(room)' id='%'/><occupant-id xmlns='urn:xmpp:occupant-id:0' id='%'/></message>
        """
    }

    private static func direct(_ content: String) -> String {
        """
        <message xmlns='jabber:client' from='romeo@example.net/%' type='chat' id='%'>\(content)\
        <origin-id xmlns='urn:xmpp:sid:0' id='%'/></message>
        """
    }

    /// Another device of the account has sent the message.
    private static func copy(_ content: String) -> String {
        """
        <message xmlns='jabber:client' from='juliet@example.org'><sent xmlns='urn:xmpp:carbons:2'><forwarded xmlns='urn:xmpp:forward:0'>\
        <message xmlns='jabber:client' from='juliet@example.org/%' to='%@example.net' type='chat' id='%'>\(content)</message>\
        </forwarded></sent></message>
        """
    }

    private static let contents = [
        "<body>$</body>", "<subject>$</subject>", "<body>$</body><subject>$</subject><thread>%</thread>",
        "<body>$</body><replace xmlns='urn:xmpp:message-correct:0' id='%'/>",
        "<retract xmlns='urn:xmpp:message-retract:1' id='%'/>",
        "<apply-to xmlns='urn:xmpp:fasten:0' id='%'><retract xmlns='urn:xmpp:message-retract:0'/></apply-to>",
        "<reactions xmlns='urn:xmpp:reactions:0' id='%'><reaction>$</reaction><reaction>👍</reaction></reactions>",
        "<body>$</body><reply xmlns='urn:xmpp:reply:0' id='%' to='%@example.net'/>",
        "<body>$</body><request xmlns='urn:xmpp:receipts'/><markable xmlns='urn:xmpp:chat-markers:0'/>",
        "<received xmlns='urn:xmpp:receipts' id='%'/>", "<displayed xmlns='urn:xmpp:chat-markers:0' id='%'/>",
        "<body>$</body><nick xmlns='http://jabber.org/protocol/nick'>$</nick>",
        "<x xmlns='jabber:x:conference' jid='%@muc.example.org' reason='$' password='$'/>",
        "<encryption xmlns='urn:xmpp:eme:0' namespace='%' name='$'/><body>$</body>",
        """
        <body>$</body><file-sharing xmlns='urn:xmpp:sfs:0' disposition='$'><file xmlns='urn:xmpp:file:metadata:0'><name>%</name>\
        <media-type>$</media-type><desc>$</desc><size>1</size></file><sources xmlns='urn:xmpp:sfs:0'>\
        <url-data xmlns='http://jabber.org/protocol/url-data' target='https://example.net/%'/></sources></file-sharing>
        """,
        "<event xmlns='http://jabber.org/protocol/pubsub#event'><items node='%'><item id='%'><x xmlns='urn:x'>$</x></item></items></event>",
        "<composing xmlns='http://jabber.org/protocol/chatstates'/>",
    ]

    private static let others = [
        """
        <presence xmlns='jabber:client' from='%@example.net' type='subscribe'><status>$</status>\
        <nick xmlns='http://jabber.org/protocol/nick'>$</nick></presence>
        """,
        "<presence xmlns='jabber:client' from='%@example.net' type='unsubscribe'/>",
        "<presence xmlns='jabber:client' from='romeo@example.net/%'><show>$</show><status>$</status></presence>",
        "<presence xmlns='jabber:client' from='romeo@example.net/%' type='unavailable'><status>$</status></presence>",
        """
        <presence xmlns='jabber:client' from='romeo@example.net/%'>\
        <c xmlns='http://jabber.org/protocol/caps' hash='sha-1' node='%' ver='%'/></presence>
        """,
        """
        <presence xmlns='jabber:client' from='\(room)/%'><x xmlns='\(muc)'>\
        <item affiliation='member' role='participant' jid='%@example.net/%'><reason>$</reason></item></x>\
        <occupant-id xmlns='urn:xmpp:occupant-id:0' id='%'/></presence>
        """,
        """
        <presence xmlns='jabber:client' from='\(room)/%' type='unavailable'><x xmlns='\(muc)'>\
        <item affiliation='none' nick='%'/><status code='303'/></x></presence>
        """,
        """
        <presence xmlns='jabber:client' from='\(room)/%' type='unavailable'><x xmlns='\(muc)'>\
        <item affiliation='none'><reason>$</reason></item></x></presence>
        """,
        """
        <message xmlns='jabber:client' from='%@muc.example.org'><x xmlns='\(muc)'>\
        <invite from='%@example.net'><reason>$</reason></invite><password>$</password></x></message>
        """,
        """
        <message xmlns='jabber:client' from='romeo@example.net/%' type='error' id='%'><error type='cancel'>\
        <text xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'>$</text></error></message>
        """,
        "<iq xmlns='jabber:client' type='get' from='romeo@example.net/%' id='%'><ping xmlns='urn:xmpp:ping'/></iq>",
        """
        <iq xmlns='jabber:client' type='get' from='romeo@example.net/%' id='%'>\
        <query xmlns='http://jabber.org/protocol/disco#info' node='%'/></iq>
        """,
        "<iq xmlns='jabber:client' type='set' id='%'><query xmlns='jabber:iq:roster'><item jid='%@example.net' name='$' subscription='both'/></query></iq>",
        "<iq xmlns='jabber:client' type='set' id='%'><block xmlns='urn:xmpp:blocking'><item jid='%@example.net'/></block></iq>",
        "<iq xmlns='jabber:client' type='set' id='%'><unblock xmlns='urn:xmpp:blocking'><item jid='%@example.net'/></unblock></iq>",
        // The list of rooms that the account has asked for.
        """
        <iq xmlns='jabber:client' type='result' id='bookmarks'><query xmlns='jabber:iq:private'><storage xmlns='storage:bookmarks'>\
        <conference jid='%@muc.example.org' name='$' autojoin='true'/><conference jid='%@muc.example.org' autojoin='true'>\
        <nick>%</nick></conference></storage></query></iq>
        """,
    ]
}
