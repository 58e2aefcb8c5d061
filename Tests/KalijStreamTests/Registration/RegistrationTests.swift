import KalijXML
import Testing

@testable import KalijStream

@Suite("Registration of an account (XEP-0077, XEP-0445)")
struct RegistrationTests {
    /// Plays a conversation: `S:` what the server sends, `C:` what has to be sent next, `?` the names of the fields asked for, `A:`
    /// answers of the user (`name=value name=value`), `!` the account is there.
    private func play(_ script: String, token: String? = nil) throws {
        var registration = Registration(at: "example.org", token: token)
        var pending: [Registration.Action] = []
        for line in script.split(separator: "\n").map(String.init) {
            let rest = String(line.dropFirst(2).drop(while: \.isWhitespace))
            switch line.prefix(1) {
            case "S":
                #expect(pending.isEmpty, "before \(line)")
                let element = try #require(Element.parsed(rest))
                pending += try registration.handle(StreamFeatures(element).map { .began($0) } ?? .element(element))
            case "A":
                #expect(pending.isEmpty, "before \(line)")
                let pairs = rest.split(separator: " ").map { $0.split(separator: "=") }
                pending += try registration.handle(
                    .answered(
                        username: "juliet", password: "R0m30",
                        values: Dictionary(uniqueKeysWithValues: pairs.map { (String($0[0]), [String($0[1])]) })))
            default:
                let action = try #require(pending.isEmpty ? nil : pending.removeFirst(), "\(line)")
                switch action {
                case .send(let stanza): #expect(stanza.xml() == rest)
                case .ask(let form): #expect(form.fields.compactMap(\.name).joined(separator: " ") == rest)
                case .registered: #expect(line == "!")
                }
            }
        }
        #expect(pending.isEmpty, "at the end")
    }

    private static let open = """
        S: <stream:features><register xmlns='http://jabber.org/features/iq-register'/></stream:features>
        C: <iq xmlns='jabber:client' id='form' to='example.org' type='get'><query xmlns='jabber:iq:register'/></iq>

        """
    private static let list =
        open + """
            S: <iq type='result' id='form'><query xmlns='jabber:iq:register'><instructions>Choose</instructions>\
            <username/><password/><email/></query></iq>
            ? email

            """

    @Test("the older list of fields, XEP-0077, 3.1")
    func fields() throws {
        try play(
            Self.list + """
                A: email=juliet@capulet.lit
                C: <iq xmlns='jabber:client' id='registration' to='example.org' type='set'><query xmlns='jabber:iq:register'>\
                <username>juliet</username><password>R0m30</password><email>juliet@capulet.lit</email></query></iq>
                S: <message><body>something else</body></message>
                S: <iq type='result' id='other'/>
                S: <iq type='result' id='registration'/>
                !
                """)
    }

    @Test("a data form, XEP-0077, 4, with hidden fields that go back")
    func form() throws {
        try play(
            Self.open + """
                S: <iq type='result' id='form'><query xmlns='jabber:iq:register'><instructions>Use a form</instructions>\
                <x xmlns='jabber:x:data' type='form'><field type='hidden' var='FORM_TYPE'><value>jabber:iq:register</value></field>\
                <field type='text-single' var='username'><required/></field><field type='text-private' var='password'><required/></field>\
                <field type='fixed'><value>Now the riddle</value></field>\
                <field type='text-single' var='ocr' label='What is in the picture?'><required/></field></x></query></iq>
                ? ocr
                A: ocr=7nHL3
                C: <iq xmlns='jabber:client' id='registration' to='example.org' type='set'><query xmlns='jabber:iq:register'>\
                <x xmlns='jabber:x:data' type='submit'><field type='hidden' var='FORM_TYPE'><value>jabber:iq:register</value></field>\
                <field type='text-single' var='username'><value>juliet</value></field>\
                <field type='text-private' var='password'><value>R0m30</value></field>\
                <field type='text-single' var='ocr'><value>7nHL3</value></field></x></query></iq>
                S: <iq type='result' id='registration'/>
                !
                """)
    }

    private func form(_ query: String, beside: String = "") throws -> RegistrationForm {
        let answer = "<iq type='result' id='form'><query xmlns='jabber:iq:register'>\(query)</query>\(beside)</iq>"
        return try RegistrationForm(#require(Element.parsed(answer)))
    }

    private static let riddle = """
        <x xmlns='jabber:x:data' type='form'><field type='text-single' var='username'/>\
        <field type='fixed'><value>Now the riddle</value></field>\
        <field var='ocr'><media xmlns='urn:xmpp:media-element'><uri type='audio/x-wav'>http://example.org/riddle.wav</uri>\
        <uri type='image/png'> cid:sha1+1@bob.xmpp.org </uri></media></field></x>
        """

    @Test("the picture of a riddle comes along with the form, XEP-0158 and XEP-0231", arguments: [false, true])
    func picture(isBeside: Bool) throws {
        let data = "<data xmlns='urn:xmpp:bob' cid='sha1+1@bob.xmpp.org' type='image/png'>\n AQI\nD</data>"
        let form = try form(Self.riddle + (isBeside ? "" : data), beside: isBeside ? data : "")
        #expect(form.parts.map(\.effectiveType) == [.fixed, .textSingle])
        let field = try #require(form.fields.first)
        #expect(form.fields.count == 1 && field.name == "ocr")
        #expect(form.picture(of: field) == [1, 2, 3])
        #expect(form.links(of: field).map(\.uri) == ["http://example.org/riddle.wav"])
    }

    @Test(
        "data that are none, too long, or another's, are no picture",
        arguments: [
            "<data xmlns='urn:xmpp:bob' cid='sha1+1@bob.xmpp.org'>?</data>", "<data xmlns='urn:xmpp:bob'>AQID</data>",
            "<data xmlns='urn:xmpp:bob' cid='sha1+2@bob.xmpp.org'>AQID</data>",
            "<data xmlns='urn:xmpp:bob' cid='sha1+1@bob.xmpp.org'/>",
            "<data xmlns='urn:xmpp:bob' cid='sha1+1@bob.xmpp.org'>\(String(repeating: "AAAA", count: 22_000))</data>",
        ])
    func noPicture(_ data: String) throws {
        let form = try form(Self.riddle + data)
        #expect(try form.picture(of: #require(form.fields.first)) == nil)
    }

    @Test("a form with more questions than a person can answer is none; many options of one field are fine")
    func questions() throws {
        func form(_ fields: Int, _ type: String, options: Int) throws -> RegistrationForm {
            let option = String(repeating: "<option><value>x</value></option>", count: options)
            let field = "<field var='f' type='\(type)'>\(option)</field>"
            return try self.form(
                "<x xmlns='jabber:x:data' type='form'>\(String(repeating: field, count: fields))</x>")
        }
        #expect(try form(60, "text-single", options: 0).fields.count == 60)
        #expect(try form(1, "list-single", options: 1_000).fields.count == 1)
        #expect(try form(10, "list-multi", options: 5).fields.count == 10)
        let tooMany = RegistrationError.invalidAnswer("too many questions")
        #expect(throws: tooMany) { try form(61, "text-single", options: 0) }
        #expect(throws: tooMany) { try form(1, "list-single", options: 1_001) }
        #expect(throws: tooMany) { try form(10, "list-multi", options: 6) }
    }

    @Test("a field has at most five links")
    func links() throws {
        let uris = (0..<20).map { "<uri type='audio/ogg'>https://example.org/\($0)</uri>" }.joined()
        let field = "<field var='f'><media xmlns='urn:xmpp:media-element'>\(uris)</media></field>"
        let form = try form("<x xmlns='jabber:x:data' type='form'>\(field)</x>")
        #expect(form.links(of: try #require(form.fields.first)).count == 5)
    }

    @Test("an invitation goes first, XEP-0445, 4")
    func invitation() throws {
        let preauth = """
            S: <stream:features><register xmlns='urn:xmpp:invite'/></stream:features>
            C: <iq xmlns='jabber:client' id='invitation' to='example.org' type='set'><preauth xmlns='urn:xmpp:pars:0' token='T&amp;1'/></iq>

            """
        try play(
            preauth + """
                S: <iq type='result' id='invitation'/>
                C: <iq xmlns='jabber:client' id='form' to='example.org' type='get'><query xmlns='jabber:iq:register'/></iq>
                """, token: "T&1")
        #expect(throws: RegistrationError.self) {
            try play(
                preauth
                    + "S: <iq type='error' id='invitation'><error type='cancel'><item-not-found xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></iq>",
                token: "T&1")
        }
    }

    private func problem(_ script: String) -> RegistrationError? {
        do { try play(script) } catch { return error as? RegistrationError }
        return nil
    }

    @Test("refusals are told as what they are")
    func refusals() throws {
        #expect(
            problem("S: <stream:features><register xmlns='urn:xmpp:ibr-token:0'/></stream:features>")
                == .notOffered(invitations: true))
        #expect(problem("S: <stream:features/>") == .notOffered(invitations: false))
        let taken =
            Self.list + """
                A: email=a
                C: <iq xmlns='jabber:client' id='registration' to='example.org' type='set'><query xmlns='jabber:iq:register'>\
                <username>juliet</username><password>R0m30</password><email>a</email></query></iq>
                S: <iq type='error' id='registration'><error type='cancel'><conflict xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></iq>
                """
        #expect(problem(taken)?.isTaken == true)
        #expect(problem(Self.list + "A: email=a other=b") == .field("the server does not ask for \"other\""))
        guard case .field = problem(Self.list + "A: ") else {
            Issue.record("a missing answer")
            return
        }
        let link = "<x xmlns='jabber:x:oob'><url>https://example.org/new</url></x>"
        #expect(
            problem(Self.open + "S: <iq type='result' id='form'><query xmlns='jabber:iq:register'>\(link)</query></iq>")
                == .elsewhere("https://example.org/new"))
        for answer in [
            "", "<query xmlns='jabber:iq:register'/>", "<query xmlns='jabber:iq:register'><password/></query>",
        ] {
            guard case .invalidAnswer = problem(Self.open + "S: <iq type='result' id='form'>\(answer)</iq>") else {
                Issue.record("\(answer)")
                continue
            }
        }
        let many = String(repeating: "<email/>", count: 200)
        guard
            case .invalidAnswer = problem(
                Self.open
                    + "S: <iq type='result' id='form'><query xmlns='jabber:iq:register'><username/>\(many)</query></iq>"
            )
        else {
            Issue.record("many fields")
            return
        }
    }

    @Test("without authentication nothing is said about the account, and nothing outside of TLS")
    func unauthenticated() throws {
        var configuration = Negotiation.Configuration.test()
        configuration.authenticates = false
        try Transcript(configuration).play(
            """
            * connected secured
            C: HEADER>
            S: HEADER
            S: <stream:features><register xmlns='http://jabber.org/features/iq-register'/></stream:features>
            ! unauthenticated
            S: <iq type='result' id='form'/>
            ! stanza iq
            """)
        #expect(throws: NegotiationError.tlsNotOffered) {
            try Transcript(configuration).play(
                """
                * connected
                C: HEADER>
                S: HEADER
                S: <stream:features><register xmlns='http://jabber.org/features/iq-register'/></stream:features>
                """)
        }
    }
}
