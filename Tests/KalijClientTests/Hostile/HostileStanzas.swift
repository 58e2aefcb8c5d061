import Foundation
import KalijAddress

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// Stanzas with `%` for an identifier and `$` for a text, in every place that somebody else fills.
enum HostileStanzas {
    private static let muc = "http://jabber.org/protocol/muc#user"
    private static let room = RoomHarness.room

    /// In a room, with a contact, and notifying.
    static func harness() throws -> StepHarness {
        let harness = try RoomHarness.joined(notifies: true).harness
        try harness.subscribe("romeo@example.net")
        _ = try harness.accept("out")
        return harness
    }

    static func filled(_ stanza: String, _ name: String, _ text: String) -> String {
        stanza.replacingOccurrences(of: "%", with: name).replacingOccurrences(of: "$", with: text)
    }

    static var all: [String] { contents.flatMap { [chat($0), groupchat($0), direct($0)] } + others }

    private static func chat(_ content: String) -> String {
        "<message from='%@example.net/%' to='juliet@example.org' type='chat' id='%'>\(content)</message>"
    }
    private static func groupchat(_ content: String) -> String {
        """
        <message from='\(room)/%' type='groupchat' id='%'>\(content)<stanza-id xmlns='urn:xmpp:sid:0' by='\(room)' id='%'/>\
        <occupant-id xmlns='urn:xmpp:occupant-id:0' id='%'/></message>
        """
    }
    private static func direct(_ content: String) -> String {
        "<message from='romeo@example.net/%' type='chat' id='%'>\(content)<origin-id xmlns='urn:xmpp:sid:0' id='%'/></message>"
    }

    private static let contents = [
        "<body>$</body>", "<body>$</body><subject>$</subject><thread>%</thread>", "<subject>$</subject>",
        "<body>$</body><replace xmlns='urn:xmpp:message-correct:0' id='%'/>",
        "<retract xmlns='urn:xmpp:message-retract:1' id='%'/>",
        "<apply-to xmlns='urn:xmpp:fasten:0' id='%'><retract xmlns='urn:xmpp:message-retract:0'/></apply-to>",
        "<reactions xmlns='urn:xmpp:reactions:0' id='%'><reaction>$</reaction><reaction>%</reaction></reactions>",
        "<body>$</body><reply xmlns='urn:xmpp:reply:0' id='%' to='%@example.net'/>",
        "<body>$</body><request xmlns='urn:xmpp:receipts'/><markable xmlns='urn:xmpp:chat-markers:0'/>",
        "<received xmlns='urn:xmpp:receipts' id='%'/>", "<displayed xmlns='urn:xmpp:chat-markers:0' id='%'/>",
        "<body>$</body><nick xmlns='http://jabber.org/protocol/nick'>$</nick>",
        "<x xmlns='jabber:x:conference' jid='%@muc.example.org' reason='$' password='$'/>",
        "<encryption xmlns='urn:xmpp:eme:0' namespace='%' name='$'/><body>$</body>",
        "<encrypted xmlns='urn:xmpp:omemo:2'><header sid='1'><keys jid='%'><key rid='1'>$</key></keys></header><payload>$</payload></encrypted>",
        "<body>https://example.net/%</body><x xmlns='jabber:x:oob'><url>https://example.net/%</url><desc>$</desc></x>",
        """
        <body>$</body><file-sharing xmlns='urn:xmpp:sfs:0' disposition='$'><file xmlns='urn:xmpp:file:metadata:0'><name>%</name>\
        <media-type>$</media-type><desc>$</desc><size>1</size></file><sources><url-data xmlns='http://jabber.org/protocol/url-data' \
        target='https://example.net/%'/></sources></file-sharing>
        """,
        "<event xmlns='http://jabber.org/protocol/pubsub#event'><items node='%'><item id='%'><x xmlns='urn:x'>$</x></item></items></event>",
        """
        <event xmlns='http://jabber.org/protocol/pubsub#event'><items node='http://jabber.org/protocol/nick'><item id='%'>\
        <nick xmlns='http://jabber.org/protocol/nick'>$</nick></item></items></event>
        """,
        "<composing xmlns='http://jabber.org/protocol/chatstates'/>",
    ]

    private static let others = [
        "<presence from='%@example.net' type='subscribe'><status>$</status><nick xmlns='http://jabber.org/protocol/nick'>$</nick></presence>",
        "<presence from='romeo@example.net/%'><show>$</show><status>$</status><priority>$</priority></presence>",
        "<presence from='romeo@example.net/%'><c xmlns='http://jabber.org/protocol/caps' hash='sha-1' node='%' ver='%'/></presence>",
        "<presence from='romeo@example.net/%' type='unavailable'><status>$</status></presence>",
        """
        <presence from='\(room)/%'><x xmlns='\(muc)'><item affiliation='member' role='participant' jid='%@example.net/%'>\
        <reason>$</reason></item></x><occupant-id xmlns='urn:xmpp:occupant-id:0' id='%'/></presence>
        """,
        "<presence from='\(room)/short'><x xmlns='\(muc)'><item affiliation='member' role='participant' jid='%@example.net'/></x></presence>",
        "<presence from='\(room)/%' type='unavailable'><x xmlns='\(muc)'><item affiliation='none' nick='%'/><status code='303'/></x></presence>",
        "<presence from='\(room)/%' type='unavailable'><x xmlns='\(muc)'><item affiliation='none'><reason>$</reason></item></x></presence>",
        """
        <presence from='\(room)/%' type='error'><error type='cancel' by='%'><conflict xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/>\
        <text xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'>$</text></error></presence>
        """,
        "<message from='%@muc.example.org'><x xmlns='\(muc)'><invite from='%@example.net'><reason>$</reason></invite><password>$</password></x></message>",
        "<message from='romeo@example.net/%' type='error' id='%'><error type='cancel'><text xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'>$</text></error></message>",
        "<iq type='get' from='romeo@example.net/%' id='%'><query xmlns='http://jabber.org/protocol/disco#info' node='%'/></iq>",
        "<iq type='get' from='romeo@example.net/%' id='%'><ping xmlns='urn:xmpp:ping'/></iq>",
        "<iq type='result' from='romeo@example.net/%' id='%'/>",
        "<iq type='set' from='%@example.net' id='%'><x xmlns='urn:x'>$</x></iq>",
        """
        <message from='juliet@example.org'><received xmlns='urn:xmpp:carbons:2'><forwarded xmlns='urn:xmpp:forward:0'>\
        <message xmlns='jabber:client' from='%@example.net/%' to='juliet@example.org/x' type='chat' id='%'><body>$</body></message>\
        </forwarded></received></message>
        """,
        // The room is destroyed last.
        """
        <presence from='\(room)/juliet' type='unavailable'><x xmlns='\(muc)'><item affiliation='none'/>\
        <destroy jid='%@muc.example.org'><reason>$</reason></destroy></x></presence>
        """,
    ]
}
