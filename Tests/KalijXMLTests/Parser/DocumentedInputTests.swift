import KalijXML
import Testing

/// "Every documented input split at every byte gives the same tree": the XML of the source documents' examples, and
/// stanzas in the manner of the XEPs.
@Suite struct DocumentedInputTests {
    @Test("every documented input, split at every byte, gives the same tree", arguments: examples + stanzas)
    func split(_ input: String) {
        let bytes = Array((streamHeader + input + "</stream:stream>").utf8)
        let whole = Heard([bytes], finishing: true)
        #expect(whole.condition == nil)
        #expect(whole.events.count == 3, "the header, the stanza and the end")
        for place in 1..<bytes.count {
            let cut = Heard([Array(bytes[..<place]), Array(bytes[place...])], finishing: true)
            #expect(cut == whole, "cut at \(place)")
        }
        for size in [1, 2, 3, 7] { #expect(Heard(chunks(bytes, of: size), finishing: true) == whole, "by \(size)") }
    }

    /// From the document "XML Query Language", in its order.
    private static let examples = [
        """
        <message from='test@example.org' id='some_id' xmlns='jabber:client'>
            <body>Message text</body>
            <body xmlns='urn:some:different:namespace'>This will NOT be used</body>
        </message>
        """,
        """
        <message from='test@example.org' id='some_id' xmlns='jabber:client'>
            <body>Message text</body>
        </message>
        """,
        """
        <stream:error>
            <not-well-formed xmlns='urn:ietf:params:xml:ns:xmpp-streams'/>
            <text xmlns='urn:ietf:params:xml:ns:xmpp-streams'>Some descriptive Text...</text>
        </stream:error>
        """,
        """
        <iq id='605818D4-4D16-4ACC-B003-BFA3E11849E1' to='user@example.com/Monal-iOS.15e153a8' xmlns='jabber:client' \
        type='result' from='asdkjfhskdf@messaging.one'>
            <pubsub xmlns='http://jabber.org/protocol/pubsub'>
                <subscription node='eu.siacs.conversations.axolotl.devicelist' subid='6795F13596465' \
        subscription='subscribed' jid='user@example.com'/>
            </pubsub>
        </iq>
        """,
        """
        <iq type='result' id='juliet1'>
          <fin xmlns='urn:xmpp:mam:2' complete='true'>
            <set xmlns='http://jabber.org/protocol/rsm'>
              <first index='0'>28482-98726-73623</first>
              <last>09af3-cc343-b409f</last>
            </set>
          </fin>
        </iq>
        """,
        """
        <message from='romeo@montague.net/orchard' to='juliet@capulet.com' type='chat'>
            <body>O blessed, blessed night! I am afeard.</body>
            <delay xmlns='urn:xmpp:delay' from='capulet.com' stamp='2002-09-10T23:08:25Z'/>
        </message>
        """,
        """
        <iq from='upload.montague.tld' id='step_02' to='romeo@montague.tld/garden' type='result'>
          <query xmlns='http://jabber.org/protocol/disco#info'>
            <identity category='store' type='file' name='HTTP File Upload' />
            <feature var='urn:xmpp:http:upload:0' />
            <x type='result' xmlns='jabber:x:data'>
              <field var='FORM_TYPE' type='hidden'>
                <value>urn:xmpp:http:upload:0</value>
              </field>
              <field var='max-file-size'>
                <value>5242880</value>
              </field>
            </x>
          </query>
        </iq>
        """,
    ]

    private static let stanzas = [
        """
        <stream:features><starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'><required/></starttls>\
        <mechanisms xmlns='urn:ietf:params:xml:ns:xmpp-sasl'><mechanism>SCRAM-SHA-1</mechanism></mechanisms>\
        <c xmlns="http://jabber.org/protocol/caps" hash="sha-1" node="urn:n" ver="q07IKJEyjvHSyhy//CH0CxmKi8w="/>\
        </stream:features>
        """,
        "<challenge xmlns='urn:ietf:params:xml:ns:xmpp-sasl'>cj02ZDQ0MmI1ZDllNTFhNzQwZjM2OWUz</challenge>",
        "<r xmlns='urn:xmpp:sm:3'/>",
        """
        <message xmlns='jabber:client' from='a@b.example' to='a@b.example/home' type='chat'>\
        <received xmlns='urn:xmpp:carbons:2'><forwarded xmlns='urn:xmpp:forward:0'>\
        <message xmlns='jabber:client' from='j@c.example/balcony' xml:lang='de'><body>Sch\u{F6}n &amp; gut &lt;3 😀</body>\
        <thread parent='7edac73ab41e45c4aafa7b2d7b749080'>e0ffe42b28561960c6b12b944a092794b9683a38</thread>\
        </message></forwarded></received></message>
        """,
        """
        <message id='aeb213' to='juliet@capulet.lit/chamber'><result xmlns='urn:xmpp:mam:2' queryid='f27' id='28482'>\r
          <forwarded xmlns='urn:xmpp:forward:0'>\r
            <delay xmlns='urn:xmpp:delay' stamp='2010-07-10T23:08:25Z'/>\r
            <message xmlns='jabber:client' to='j@c.lit/b'><body>Call me but love, and I&apos;ll be new baptized</body>\
        </message></forwarded></result></message>
        """,
        """
        <presence from='coven@chat.shakespeare.lit/thirdwitch' id='n13mt3l'><x xmlns='http://jabber.org/protocol/muc#user'>\
        <item affiliation='member' role='participant' jid="hag66@shakespeare.lit/&quot;pda&quot;"/><status code='110'/></x>\
        <x xmlns='vcard-temp:x:update'><photo/></x></presence>
        """,
        """
        <message><html xmlns='http://jabber.org/protocol/xhtml-im'><body xmlns='http://www.w3.org/1999/xhtml'>\
        <p style='a:b'>mixed <em>content</em>, <strong/>in <a href='http://x/?a=1&amp;b=2'>pieces</a>.</p></body></html>\
        <body>mixed</body></message>
        """,
        """
        <iq type='error' id='x'><query xmlns='jabber:iq:roster'/><error type='cancel' by='example.org'>\
        <item-not-found xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/>\
        <text xmlns='urn:ietf:params:xml:ns:xmpp-stanzas' xml:lang='en'>No <![CDATA[<such> &]]> item</text></error></iq>
        """,
        """
        <o:message xmlns:o='jabber:client' xmlns:e='eu.siacs.conversations.axolotl'><e:encrypted><e:header sid='27183'>\
        <e:key rid='31415' e:prekey='true'>BASE64ENCODED...</e:key></e:header></e:encrypted>\
        <plain xmlns=''><e:rebound xmlns:e='urn:other' e:a='1' a='2'/></plain></o:message>
        """,
        "<iq type='set'\n\tid\n=\n'i&#10;d' ><ping xmlns=\"urn:xmpp:ping\"\t/>&#x1F600;\r\r\n&#13;</iq >",
    ]
}
