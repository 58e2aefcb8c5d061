import FoundationEssentials
import KalijXML
import Testing

/// The examples of the document "XML Query Language", under their own numbers.
@Suite struct DocumentExamples {
    @Test func example0() throws {
        let message = try Element.parse(
            """
            <message from='test@example.org' id='some_id' xmlns='jabber:client'>
                <body>Message text</body>
                <body xmlns='urn:some:different:namespace'>This will NOT be used</body>
            </message>
            """)
        let bodies: [String] = message.find("body#")
        #expect(bodies == ["Message text"])
    }

    @Test func example1() throws {
        let message = try Element.parse(
            """
            <message from='test@example.org' id='some_id' xmlns='jabber:client'>
                <body>Message text</body>
            </message>
            """)
        let id: String? = message.findFirst("/@id")
        #expect(id == "some_id")
    }

    @Test("example 2, inside a stream whose header declares the prefix")
    func example2() throws {
        let text =
            streamHeader + """
                <stream:error>
                    <not-well-formed xmlns='urn:ietf:params:xml:ns:xmpp-streams'/>
                    <text xmlns='urn:ietf:params:xml:ns:xmpp-streams'>Some descriptive Text...</text>
                </stream:error>
                """
        var reason: String?
        try StreamParser().feed(Array(text.utf8)) { event in
            if case .element(let error) = event {
                reason = error.findFirst("{urn:ietf:params:xml:ns:xmpp-streams}!text$")
            }
        }
        #expect(reason == "not-well-formed")
    }

    private let subscription = """
        <iq id='605818D4-4D16-4ACC-B003-BFA3E11849E1' to='user@example.com/Monal-iOS.15e153a8' xmlns='jabber:client' \
        type='result' from='asdkjfhskdf@messaging.one'>
            <pubsub xmlns='http://jabber.org/protocol/pubsub'>
                <subscription node='eu.siacs.conversations.axolotl.devicelist' subid='6795F13596465' \
        subscription='subscribed' jid='user@example.com'/>
            </pubsub>
        </iq>
        """

    @Test func example3() throws {
        let iq = try Element.parse(subscription)
        let status: String? = iq.findFirst(
            "/<type=result>/{http://jabber.org/protocol/pubsub}pubsub/subscription<node=%@><jid=%@>@subscription",
            "eu.siacs.conversations.axolotl.devicelist", "user@example.com")
        #expect(status == "subscribed")
        let (node, jid) = ("eu.siacs.conversations.axolotl.devicelist", "user@example.com")
        let interpolated: String? = iq.findFirst(
            "{http://jabber.org/protocol/pubsub}pubsub/subscription<node=\(node)><jid=\(jid)>@subscription")
        #expect(interpolated == "subscribed")
        let other: String? = iq.findFirst(
            "{http://jabber.org/protocol/pubsub}pubsub/subscription<node=\(jid)><jid=\(jid)>@subscription")
        #expect(other == nil)
    }

    @Test("the query with ../../.. returns the type of the root element")
    func ascending() throws {
        let iq = try Element.parse(
            "<iq xmlns='jabber:client' type='get'><pubsub xmlns='http://jabber.org/protocol/pubsub'><items/></pubsub></iq>"
        )
        let type: String? = iq.findFirst(
            "/{jabber:client}iq/{http://jabber.org/protocol/pubsub}pubsub/items/../../../@type")
        #expect(type == "get")
        let rooted: String? = iq.findFirst(
            "/{jabber:client}iq/{http://jabber.org/protocol/pubsub}pubsub/items/../..//@type")
        #expect(rooted == "get")
    }

    @Test func example4() throws {
        let iq = try Element.parse(
            """
            <iq type='result' id='juliet1'>
              <fin xmlns='urn:xmpp:mam:2' complete='true'>
                <set xmlns='http://jabber.org/protocol/rsm'>
                  <first index='0'>28482-98726-73623</first>
                  <last>09af3-cc343-b409f</last>
                </set>
              </fin>
            </iq>
            """)
        let complete: Bool? = iq.findFirst("{urn:xmpp:mam:2}fin@complete|bool")
        #expect(complete == true)
        let index: Int? = iq.findFirst("{urn:xmpp:mam:2}fin/{http://jabber.org/protocol/rsm}set/first@index|int")
        #expect(index == 0)
    }

    @Test func example5() throws {
        let message = try Element.parse(
            """
            <message from='romeo@montague.net/orchard' to='juliet@capulet.com' type='chat'>
                <body>O blessed, blessed night! I am afeard.</body>
                <delay xmlns='urn:xmpp:delay' from='capulet.com' stamp='2002-09-10T23:08:25Z'/>
            </message>
            """)
        let stamp: Date? = message.findFirst("{urn:xmpp:delay}delay@stamp|datetime")
        #expect(stamp?.timeIntervalSince1970 == 1_031_699_305)
    }

    @Test("some more queries as found in the codebase")
    func more() throws {
        let jingle = try Element.parse(
            "<iq xmlns='jabber:client'><jingle xmlns='urn:xmpp:jingle:1' action='session-accept'/></iq>")
        #expect(jingle.check("{urn:xmpp:jingle:1}jingle<action~^session-(initiate|accept)$>"))
        let error = try Element.parse(
            """
            <iq xmlns='jabber:client'><error><item-not-found xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></iq>
            """)
        #expect(error.check("error/{urn:ietf:params:xml:ns:xmpp-stanzas}item-not-found"))
        let avatar = try Element.parse(
            "<item><metadata xmlns='urn:xmpp:avatar:metadata'><info id='1'/></metadata>"
                + "<data xmlns='urn:xmpp:avatar:data'>aGVs\nbG8=</data></item>")
        let info: Element? = avatar.findFirst("{urn:xmpp:avatar:metadata}metadata/info")
        #expect(info?["id"] == "1")
        let data: [UInt8]? = avatar.findFirst("{urn:xmpp:avatar:data}data#|base64")
        #expect(data == Array("hello".utf8))
    }
}
