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

/// The data forms of the document, and claims of its text.
extension DocumentExamples {
    @Test func example6() throws {
        let iq = try Element.parse(
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
            """)
        let size: Int? = iq.findFirst(
            "{http://jabber.org/protocol/disco#info}query/\\{urn:xmpp:http:upload:0}result@max-file-size\\|int")
        #expect(size == 5_242_880)
        let field: DataForm.Field? = iq.findFirst(
            "{http://jabber.org/protocol/disco#info}query/\\{urn:xmpp:http:upload:0}result&max-file-size\\")
        #expect(field?.values == ["5242880"])
    }

    @Test("some more data-form queries as found in the codebase")
    func moreForms() throws {
        let info = try Element.parse(
            """
            <iq xmlns='jabber:client'><query xmlns='http://jabber.org/protocol/disco#info'>\
            <x xmlns='jabber:x:data' type='result'><field var='FORM_TYPE' type='hidden'>\
            <value>http://jabber.org/protocol/muc#roominfo</value></field><field var='muc#roomconfig_roomname'>\
            <value>The Coven</value></field></x></query></iq>
            """)
        let room: String? = info.findFirst(
            "{http://jabber.org/protocol/disco#info}query/\\{http://jabber.org/protocol/muc#roominfo}result@muc#roomconfig_roomname\\"
        )
        #expect(room == "The Coven")

        func command(_ fields: String) throws -> Element {
            try Element.parse(
                "<iq xmlns='jabber:client'><command xmlns='http://jabber.org/protocol/commands' "
                    + "node='urn:xmpp:invite#invite'><x xmlns='jabber:x:data' type='result'>\(fields)</x></command></iq>"
            )
        }
        let expire = "<field var='expire'><value>2002-09-10T23:08:25Z</value></field>"
        for fields in ["<item>\(expire)</item>", "<reported><field var='expire'/></reported><item>\(expire)</item>"] {
            let date: Date? = try command(fields).findFirst(
                "{http://jabber.org/protocol/commands}command<node=urn:xmpp:invite#invite>/\\[0]@expire\\|datetime")
            #expect(date?.timeIntervalSince1970 == 1_031_699_305)
        }
        let date: Date? = try command(expire).findFirst(
            "{http://jabber.org/protocol/commands}command<node=urn:xmpp:invite#invite>/\\@expire\\|datetime")
        #expect(date?.timeIntervalSince1970 == 1_031_699_305)
        let item: Date? = try command("<item>\(expire)</item>").findFirst(
            "{http://jabber.org/protocol/commands}command/\\result[0]@expire\\|datetime")
        #expect(item == date)
    }

    @Test("nodes without a namespace inherit their containing node's")
    func creating() {
        let credentials = Element(
            "credentials", xmlns: "urn:xmpp:extdisco:2",
            children: [Element("service", attributes: ["type": "turn", "host": "example.org", "port": "3478"])])
        let service: Element? = credentials.findFirst("service<type=turn><host=example.org>")
        #expect(service?.namespace == "urn:xmpp:extdisco:2")
        #expect(credentials.findFirst("{urn:xmpp:extdisco:2}service@port|int") == 3478)
    }

    @Test("rooted queries without name and namespace; expressions for the presence of an attribute")
    func inPassing() throws {
        let element = try Element.parse("<resumed xmlns='urn:xmpp:sm:3' h='7' autojoin='1' a='' b='x' c='xy'/>")
        #expect(element.findFirst("/@h|int") == 7)
        #expect(element.findFirst("/@autojoin|bool") == true)
        #expect(element.check("/<a~^.*$>"))
        #expect(!element.check("/<d~^.*$>"))
        #expect(!element.check("/<a~.>"))
        #expect(element.check("/<b~.>") && element.check("/<c~.>"))
        #expect(element.check("/<b~^.$>") && !element.check("/<c~^.$>"))
    }
}
