import KalijXML
import Testing

/// The examples of XEP-0004 under their numbers.
@Suite struct StandardExamples {
    private let creation = """
        <iq from='joogle@botster.shakespeare.lit' to='romeo@montague.net/home' type='result' xml:lang='en' id='create1'>
          <command xmlns='http://jabber.org/protocol/commands' node='create' sessionid='create:20040408T0128Z'
                   status='executing'>
            <x xmlns='jabber:x:data' type='form'>
              <title>Bot Configuration</title>
              <instructions>Fill out this form to configure your new bot!</instructions>
              <field type='hidden' var='FORM_TYPE'><value>jabber:bot</value></field>
              <field type='fixed'><value>Section 1: Bot Info</value></field>
              <field type='text-single' label='The name of your bot' var='botname'/>
              <field type='text-multi' label='Helpful description of your bot' var='description'/>
              <field type='boolean' label='Public bot?' var='public'><required/></field>
              <field type='text-private' label='Password for special access' var='password'/>
              <field type='fixed'><value>Section 2: Features</value></field>
              <field type='list-multi' label='What features will the bot support?' var='features'>
                <option label='Contests'><value>contests</value></option>
                <option label='News'><value>news</value></option>
                <option label='Polls'><value>polls</value></option>
                <option label='Reminders'><value>reminders</value></option>
                <option label='Search'><value>search</value></option>
                <value>news</value>
                <value>search</value>
              </field>
              <field type='fixed'><value>Section 3: Subscriber List</value></field>
              <field type='list-single' label='Maximum number of subscribers' var='maxsubs'>
                <value>20</value>
                <option label='10'><value>10</value></option>
                <option label='20'><value>20</value></option>
                <option label='50'><value>50</value></option>
                <option label='None'><value>none</value></option>
              </field>
              <field type='fixed'><value>Section 4: Invitations</value></field>
              <field type='jid-multi' label='People to invite' var='invitelist'>
                <desc>Tell all your friends about your new bot!</desc>
              </field>
            </x>
          </command>
        </iq>
        """

    private let submitted = """
        <x xmlns='jabber:x:data' type='submit'>
          <field type='hidden' var='FORM_TYPE'><value>jabber:bot</value></field>
          <field type='text-single' var='botname'><value>The Jabber Google Bot</value></field>
          <field type='text-multi' var='description'>
            <value>This bot enables you to send requests to</value>
            <value>Google and receive the search results right</value>
            <value>in your Jabber client. It&apos; really cool!</value>
            <value>It even supports Google News!</value>
          </field>
          <field type='boolean' var='public'><value>0</value></field>
          <field type='text-private' var='password'><value>v3r0na</value></field>
          <field type='list-multi' var='features'><value>news</value><value>search</value></field>
          <field type='list-single' var='maxsubs'><value>50</value></field>
          <field type='jid-multi' var='invitelist'>
            <value>juliet@capulet.com</value>
            <value>benvolio@montague.net</value>
          </field>
        </x>
        """

    private func form(in stanza: String) throws -> DataForm {
        try #require(try Element.parse(stanza).findFirst("{http://jabber.org/protocol/commands}command/\\\\"))
    }

    @Test("examples 1, 5, 9 and 10 hold no form", arguments: ["create", "search"])
    func requests(node: String) throws {
        let request = try Element.parse(
            "<iq type='get' id='1'><command xmlns='http://jabber.org/protocol/commands' node='\(node)'/></iq>")
        #expect(!request.check("{*}*/\\\\"))
        let support = try Element.parse(
            "<iq><query xmlns='http://jabber.org/protocol/disco#info'><feature var='jabber:x:data'/></query></iq>")
        #expect(!support.check("{*}*/\\\\"))
        #expect(support.check("{http://jabber.org/protocol/disco#info}query/feature<var=jabber:x:data>"))
    }

    @Test func example2() throws {
        let form = try form(in: creation)
        #expect(form.type == .form)
        #expect(form.title == "Bot Configuration")
        #expect(form.instructions == ["Fill out this form to configure your new bot!"])
        #expect(form.formType == "jabber:bot")
        #expect(
            form.fields.map(\.effectiveType) == [
                .hidden, .fixed, .textSingle, .textMulti, .boolean, .textPrivate, .fixed, .listMulti, .fixed,
                .listSingle, .fixed, .jidMulti,
            ])
        #expect(form.fields[1].value == "Section 1: Bot Info")
        #expect(form.fields[1].name == nil)
        #expect(form["botname"]?.label == "The name of your bot")
        #expect(form["public"]?.isRequired == true)
        #expect(form["password"]?.isRequired == false)
        #expect(form["features"]?.values == ["news", "search"])
        #expect(form["features"]?.options.count == 5)
        #expect(form["maxsubs"]?.options.last == .init("none", label: "None"))
        #expect(form.value("maxsubs") == 20)
        #expect(form["invitelist"]?.description == "Tell all your friends about your new bot!")
        #expect(form.problems() == [])
    }

    @Test("example 3 is the submission of example 2, filled in")
    func example3() throws {
        var form = try form(in: creation)
        try form.fill("botname", with: "The Jabber Google Bot")
        try form.fill(
            "description",
            with: """
                This bot enables you to send requests to
                Google and receive the search results right
                in your Jabber client. It' really cool!
                It even supports Google News!
                """)
        try form.fill("public", with: false)
        try form.fill("password", with: "v3r0na")
        try form.fill("maxsubs", with: 50)
        try form.fill("invitelist", with: ["juliet@capulet.com", "benvolio@montague.net", "juliet@capulet.com"])
        #expect(try form.submission() == DataForm(Element.parse(submitted)))
        #expect(try form.submission().problems() == [])
    }

    @Test("the service reads example 3 by the form of example 2")
    func answered() throws {
        let answer = try form(in: creation).answered(by: DataForm(Element.parse(submitted)))
        #expect(answer.value("public") == false)
        #expect(answer.value("maxsubs") == 50)
        #expect(answer["maxsubs"]?.options.count == 4)
        let description: String? = answer.value("description")
        #expect(description?.hasSuffix("really cool!\nIt even supports Google News!") == true)
        #expect(answer.value("invitelist") == ["juliet@capulet.com", "benvolio@montague.net"])
    }

    @Test func example4() throws {
        let result = try DataForm(Element.parse(submitted.replacing("type='submit'", with: "type='result'")))
        #expect(result.type == .result)
        #expect(result.formType == "jabber:bot")
        #expect(result.value("features") == ["news", "search"])
        #expect(result.problems() == [])
    }

    @Test("examples 6 and 7: a search form and its submission")
    func search() throws {
        var form = try form(
            in: """
                <iq type='result'><command xmlns='http://jabber.org/protocol/commands' node='search' status='executing'>
                  <x xmlns='jabber:x:data' type='form'>
                    <title>Joogle Search</title>
                    <instructions>Fill out this form to search for information!</instructions>
                    <field type='text-single' var='search_request'><required/></field>
                  </x>
                </command></iq>
                """)
        #expect(throws: FormError.missingValue(field: "search_request")) { try form.submission() }
        try form.fill("search_request", with: "verona")
        #expect(
            try form.submission().element.xml() == """
                <x xmlns='jabber:x:data' type='submit'><field type='text-single' var='search_request'>\
                <value>verona</value></field></x>
                """)
    }

    @Test func example8() throws {
        let form = try form(
            in: """
                <iq type='result'><command xmlns='http://jabber.org/protocol/commands' node='search' status='completed'>
                  <x xmlns='jabber:x:data' type='result'>
                    <title>Joogle Search: verona</title>
                    <reported><field var='name'/><field var='url'/></reported>
                    <item>
                      <field var='name'><value>Comune di Verona - Benvenuti nel sito ufficiale</value></field>
                      <field var='url'><value>http://www.comune.verona.it/</value></field>
                    </item>
                    <item>
                      <field var='name'><value>benvenuto!</value></field>
                      <field var='url'><value>http://www.hellasverona.it/</value></field>
                    </item>
                  </x>
                </command></iq>
                """)
        #expect(form.title == "Joogle Search: verona")
        #expect(form.reported?.fields.map(\.name) == ["name", "url"])
        #expect(form.items.map { $0["url"]?.value } == ["http://www.comune.verona.it/", "http://www.hellasverona.it/"])
        #expect(form.problems() == [])
        #expect(form.element.findFirst("/\\result[1]@name\\") == "benvenuto!")
    }
}
