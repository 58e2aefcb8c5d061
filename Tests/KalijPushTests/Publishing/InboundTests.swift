import KalijPush
import KalijXML
import Testing

@Suite("The question in a stanza")
struct InboundTests {
    private func read(_ text: String) throws -> Inbound {
        Inbound(try Element.parse(text), tokenBytes: 1_024)
    }

    private func publish(
        node: String = " node='abc'", item: String = "<item><notification xmlns='urn:xmpp:push:0'/></item>",
        options: String = "", id: String = "1"
    ) -> String {
        """
        <iq xmlns='jabber:component:accept' type='set' from='example.org' to='push.example.org' id='\(id)'>\
        <pubsub xmlns='http://jabber.org/protocol/pubsub'><publish\(node)>\(item)</publish>\(options)</pubsub></iq>
        """
    }

    private func options(_ fields: String) -> String {
        "<publish-options><x xmlns='jabber:x:data' type='submit'>\(fields)</x></publish-options>"
    }

    private let formType = """
        <field var='FORM_TYPE'><value>http://jabber.org/protocol/pubsub#publish-options</value></field>
        """

    @Test("Prosody: x type='form' with empty fields that have no value, and a dummy body for important stanzas")
    func prosody() throws {
        func item(_ body: String) -> String {
            """
            <item><notification xmlns='urn:xmpp:push:0'><x xmlns='jabber:x:data' type='form'>
            <field type='hidden' var='FORM_TYPE'><value>urn:xmpp:push:summary</value></field>
            <field type='text-single' var='message-count'><value>1</value></field>
            <field type='text-single' var='pending-subscription-count'/>
            <field type='text-single' var='last-message-sender'/>
            <field type='text-single' var='last-message-body'>\(body)</field></x></notification></item>
            """
        }
        let module = options(formType + "<field var='pushModule'><value>monal</value></field>")
        let important = try read(publish(item: item("<value>New Message!</value>"), options: module))
        let requester = Requester(id: "1", from: "example.org", to: "push.example.org")
        #expect(
            important
                == .publish(
                    Publish(
                        requester: requester, domain: "example.org", token: "abc", module: "monal", isImportant: true)))
        let unimportant = try read(publish(item: item(""), options: module))
        #expect(
            unimportant
                == .publish(Publish(requester: requester, domain: "example.org", token: "abc", module: "monal")))
    }

    @Test("ejabberd: x type='submit' with only last-message-body, or a bare notification; ids with + / =")
    func ejabberd() throws {
        let item = """
            <item id='1'><notification xmlns='urn:xmpp:push:0'><x type='submit' xmlns='jabber:x:data'>\
            <field type='hidden' var='FORM_TYPE'><value>urn:xmpp:push:summary</value></field>\
            <field type='text-single' var='last-message-body'><value>hi</value></field></x></notification></item>
            """
        let result = try read(publish(item: item, id: "rr-1-+/=="))
        guard case .publish(let publish) = result else {
            Issue.record("\(result)")
            return
        }
        #expect(publish.requester.id == "rr-1-+/==")
        #expect(publish.isImportant)
        #expect(publish.module == nil)
        guard case .publish(let bare) = try read(self.publish()) else { throw Unexpected() }
        #expect(!bare.isImportant)
    }

    struct Unexpected: Error {}

    @Test("the field pushModule at any place in the form; empty or absent: the default module")
    func module() throws {
        let field = "<field var='pushModule'><value>m</value></field>"
        let others = "<field var='secret'><value>s</value></field>"
        for (fields, module) in [
            (field + formType, "m"), (formType + others + field, "m"), (formType, nil),
            (formType + "<field var='pushModule'/>", nil), ("<field var='pushModule'><value/></field>", nil),
        ] {
            guard case .publish(let publish) = try read(publish(options: options(fields))) else { throw Unexpected() }
            #expect(publish.module == module)
        }
    }

    @Test(
        "malformed items are the server's fault",
        arguments: [
            (" node='abc'", ""), (" node='abc'", "<item/>"), (" node='abc'", "<item/><item/>"),
            (" node='abc'", "<item><notification xmlns='wrong'/></item>"),
            (" node='abc'", "<item><notification xmlns='urn:xmpp:push:0'/><x xmlns='y'/></item>"),
            (" node='abc'", "<thing/>"),
        ] as [(String, String?)])
    func malformed(node: String, item: String?) throws {
        let text = item.map { publish(node: node, item: $0) } ?? publish(node: node)
        guard case .malformed(let requester, "example.org", _) = try read(text) else {
            Issue.record("accepted")
            return
        }
        #expect(requester.id == "1")
    }

    @Test("the node is a user's choice: what is wrong with it is no fault of the server; nor is a client's own stanza")
    func unusable() throws {
        let long = " node='\(String(repeating: "a", count: 1_025))'"
        for node in ["", " node=''", " node='a b'", " node='ä'", long] {
            guard case .unusable(let requester, _) = try read(publish(node: node)) else { throw Unexpected() }
            #expect(requester.id == "1")
        }
        let client = publish().replacing("from='example.org'", with: "from='user@example.org/phone'")
        guard case .unusable = try read(client) else { throw Unexpected() }
        let account = publish().replacing("from='example.org'", with: "from='user@example.org'")
        guard case .publish = try read(account) else { throw Unexpected() }
    }

    @Test("several publishes are malformed")
    func several() throws {
        let two = publish().replacing("</publish>", with: "</publish><publish node='b'/>")
        guard case .malformed = try read(two) else { throw Unexpected() }
    }

    @Test("any other get or set: service-unavailable; result and error IQs, messages and presence are never answered")
    func others() throws {
        let addresses = "from='example.org' to='p' id='7'"
        let requester = Requester(id: "7", from: "example.org", to: "p")
        let disco = "http://jabber.org/protocol/disco#info"
        let cases: [(String, Inbound)] = [
            ("<iq type='get' \(addresses)><query xmlns='\(disco)'/></iq>", .discovery(requester)),
            ("<iq type='get' \(addresses)><query xmlns='\(disco)' node='x'/></iq>", .unsupported(requester)),
            ("<iq type='get' \(addresses)><ping xmlns='urn:xmpp:ping'/></iq>", .ping(requester)),
            ("<iq type='get' \(addresses)><thing xmlns='x'/></iq>", .unsupported(requester)),
            ("<iq type='set' \(addresses)/>", .unsupported(requester)),
            (
                "<iq type='set' \(addresses)><pubsub xmlns='http://jabber.org/protocol/pubsub'/></iq>",
                .unsupported(requester)
            ),
            ("<iq type='set' \(addresses)><pubsub xmlns='wrong'><publish/></pubsub></iq>", .unsupported(requester)),
            ("<iq type='result' \(addresses)/>", .ignored),
            ("<iq type='error' \(addresses)/>", .ignored),
            ("<iq type='set' id='7'/>", .ignored),
            ("<message \(addresses)><body>hi</body></message>", .ignored),
            ("<presence \(addresses)/>", .ignored),
        ]
        for (text, expected) in cases { #expect(try read(text) == expected, "\(text)") }
    }

    @Test("answers: the id is echoed exactly, and the type of an error gives the server's reaction")
    func answers() throws {
        let requester = Requester(id: "a+/='\"<", from: "example.org", to: "push.example.org")
        let types: [(Answer, String?, String?)] = [
            (.done, nil, nil), (.dead, "cancel", "item-not-found"), (.refused, "wait", "policy-violation"),
            (.unavailable, "wait", "remote-server-timeout"), (.fault, "wait", "internal-server-error"),
            (.unsupported, "cancel", "service-unavailable"), (.information, nil, nil),
        ]
        for (answer, type, condition) in types {
            let stanza = try Element.parse(
                "<iq xmlns='jabber:component:accept'"
                    + String(decoding: answer.bytes(for: requester), as: UTF8.self)
                    .dropFirst(3))
            #expect(stanza["id"] == requester.id)
            #expect(stanza["to"] == "example.org")
            #expect(stanza["from"] == "push.example.org")
            #expect(stanza["type"] == (type == nil ? "result" : "error"))
            #expect(stanza.child("error")?["type"] == type)
            #expect(stanza.child("error")?.children.first?.name == condition)
        }
        let information = String(decoding: Answer.information.bytes(for: requester), as: UTF8.self)
        #expect(information.contains("urn:xmpp:push:0"))
        #expect(information.contains("category='pubsub'") && information.contains("type='push'"))
    }
}
