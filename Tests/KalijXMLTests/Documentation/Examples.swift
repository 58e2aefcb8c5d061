// swift-format-ignore-file
// Made by Scripts/documentation-examples from the documentation. Change that, and run it again.
import FoundationEssentials
import KalijXML
import Testing

@Suite("Examples of the documentation")
struct Examples {
    @Test("DataForms.md") func articleDataForms() throws {
#sourceLocation(file: "Sources/KalijXML/KalijXML.docc/DataForms.md", line: 15)
let element = try Element.parse(
    """
    <x xmlns='jabber:x:data' type='form'>
      <title>Bot configuration</title>
      <field var='FORM_TYPE' type='hidden'><value>jabber:bot</value></field>
      <field var='botname' type='text-single' label='The name of your bot'><required/></field>
      <field var='public' type='boolean' label='Public bot?'><value>0</value></field>
      <field var='features' type='list-multi' label='What features will the bot support?'>
        <option label='Contests'><value>contests</value></option>
        <option label='News'><value>news</value></option>
        <option label='Polls'><value>polls</value></option>
      </field>
    </x>
    """)
var form = try DataForm(element)
#expect(form.title == "Bot configuration")
#expect(form.formType == "jabber:bot")
#expect(form.value("public") == false)
#expect(form["features"]?.options.map(\.value) == ["contests", "news", "polls"])
#sourceLocation()
#sourceLocation(file: "Sources/KalijXML/KalijXML.docc/DataForms.md", line: 42)
do {
    _ = try form.submission()
Issue.record("nothing was thrown") } catch {
    #expect(error == .missingValue(field: "botname"))
}

try form.fill("botname", with: "The Jabber Bot")
try form.fill("public", with: true)
try form.fill("features", with: ["polls", "news"])

let answer = try form.submission()
#expect(answer.type == .submit)
#expect(answer["features"]?.values == ["news", "polls"])
#expect(answer.formType == "jabber:bot")

do {
    try form.fill("features", with: ["weather"])
Issue.record("nothing was thrown") } catch {
    #expect(error == .notAnOption(field: "features", value: "weather"))
}
#sourceLocation()
#sourceLocation(file: "Sources/KalijXML/KalijXML.docc/DataForms.md", line: 70)
let question = DataForm(
    .form, formType: "urn:example:feast", title: "The feast",
    fields: [
        .fixed("We look forward to it."),
        DataForm.Field("guests", .textSingle, label: "How many guests?", isRequired: true),
        DataForm.Field(
            "dish", .listSingle, label: "What would you like?", values: ["fish"],
            options: [DataForm.Option("fish", label: "Fish"), DataForm.Option("roast", label: "Roast")]),
    ])
#expect(question.problems() == [])
let iq = Element("iq", xmlns: "jabber:client", children: [question.element])
#expect(iq.findFirst(#"\@dish\"#) == "fish")
#sourceLocation()
#sourceLocation(file: "Sources/KalijXML/KalijXML.docc/DataForms.md", line: 92)
let search = try Element.parse(
    """
    <query xmlns='jabber:iq:search'>
      <x xmlns='jabber:x:data' type='result'>
        <reported><field var='name' label='Name' type='text-single'/><field var='jid' type='jid-single'/></reported>
        <item><field var='name'><value>Juliet</value></field><field var='jid'><value>j@example.com</value></field></item>
        <item><field var='name'><value>Romeo</value></field><field var='jid'><value>r@example.net</value></field></item>
      </x>
    </query>
    """)
let table: DataForm? = search.findFirst(#"\result\"#)
#expect(table?.items.compactMap { $0["name"]?.value } == ["Juliet", "Romeo"])
let second: String? = search.findFirst(#"\[1]@jid\"#)
#expect(second == "r@example.net")
#sourceLocation()
    }

    @Test("KalijXML.md") func articleKalijXML() throws {
#sourceLocation(file: "Sources/KalijXML/KalijXML.docc/KalijXML.md", line: 12)
let message = try Element.parse(
    "<message xmlns='jabber:client' from='juliet@example.com'><body>Good night!</body></message>")

let body: String? = message.findFirst("body#")
#expect(body == "Good night!")
#sourceLocation()
    }

    @Test("ParsingStreams.md") func articleParsingStreams() throws {
#sourceLocation(file: "Sources/KalijXML/KalijXML.docc/ParsingStreams.md", line: 13)
let parser = StreamParser()
var log: [String] = []

func note(_ event: StreamParserEvent) {
    switch event {
    case .opened(let header): log.append("opened by " + (header["from"] ?? "?"))
    case .element(let element): log.append(element.name)
    case .skipped(let skipped): log.append("skipped " + skipped.name)
    case .closed: log.append("closed")
    }
}

let chunks = [
    "<stream:stream xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams' fro", "m='example.com'><mes",
    "sage><body>Hi</body></message><presence/></stream:str", "eam>",
]
for chunk in chunks { try parser.feed(Array(chunk.utf8), note) }
try parser.finish(note)
#expect(log == ["opened by example.com", "message", "presence", "closed"])
#sourceLocation()
#sourceLocation(file: "Sources/KalijXML/KalijXML.docc/ParsingStreams.md", line: 47)
let small = StreamParser(limits: ParserLimits(stanzaBytes: 100, prefixBytes: 20))
var skipped: SkippedElement?
var names: [String] = []
let long = String(repeating: "x", count: 1_000)
let stream = "<s xmlns='jabber:client'><message id='1'><body>\(long)</body></message><iq/></s>"
try small.feed(Array(stream.utf8)) { event in
    if case .skipped(let element) = event { skipped = element }
    if case .element(let element) = event { names.append(element.name) }
}
#expect(skipped?.name == "message")
#expect(skipped?.attributes["id"] == "1")
#expect(skipped?.limit == .stanzaBytes)
#expect(skipped?.prefix.count == 20)
#expect(names == ["iq"])
#sourceLocation()
#sourceLocation(file: "Sources/KalijXML/KalijXML.docc/ParsingStreams.md", line: 74)
do {
    try StreamParser().feed(Array("<s>\n  <a><!-- no --></a></s>".utf8)) { _ in }
Issue.record("nothing was thrown") } catch let error as XMLError {
    #expect(error.condition == "restricted-xml")
    #expect(error.line == 2)
}

do {
    _ = try Element.parse("<a><b></a>")
Issue.record("nothing was thrown") } catch let error as XMLError {
    #expect(error.condition == "not-well-formed")
}
#sourceLocation()
    }

    @Test("QueryLanguage.md") func articleQueryLanguage() throws {
#sourceLocation(file: "Sources/KalijXML/KalijXML.docc/QueryLanguage.md", line: 15)

let iq = try Element.parse(
    """
    <iq xmlns='jabber:client' type='result' id='r1' to='juliet@example.com/balcony'>
      <query xmlns='jabber:iq:roster' ver='7'>
        <item jid='nurse@example.com' name='Nurse' subscription='both'><group>Family</group></item>
        <item jid='romeo@example.net' name='Romeo' subscription='both'>
          <group>Friends</group><group>Lovers</group>
        </item>
        <item jid='paris@example.com' subscription='none' approved='true'/>
      </query>
    </iq>
    """)

let version: String? = iq.findFirst("{jabber:iq:roster}query@ver")
#expect(version == "7")
#sourceLocation()
#sourceLocation(file: "Sources/KalijXML/KalijXML.docc/QueryLanguage.md", line: 45)
let groups: [String] = iq.find("{jabber:iq:roster}query/item/group#")
#expect(groups == ["Family", "Friends", "Lovers"])

let isRoster = iq.check("{jabber:iq:roster}query")
#expect(isRoster == true)
#sourceLocation()
#sourceLocation(file: "Sources/KalijXML/KalijXML.docc/QueryLanguage.md", line: 58)
#expect(iq.check("/iq") == true)
#expect(iq.check("/message") == false)
#expect(iq.check("/iq/{jabber:iq:roster}query/item") == true)
#sourceLocation()
#sourceLocation(file: "Sources/KalijXML/KalijXML.docc/QueryLanguage.md", line: 66)
let id: String? = iq.findFirst("/@id")
#expect(id == "r1")
#sourceLocation()
#sourceLocation(file: "Sources/KalijXML/KalijXML.docc/QueryLanguage.md", line: 82)
let namesInGroup: [String] = iq.find("{jabber:iq:roster}query/item/group/..//@name")
#expect(namesInGroup == ["Nurse", "Romeo"])
#sourceLocation()
#sourceLocation(file: "Sources/KalijXML/KalijXML.docc/QueryLanguage.md", line: 94)
let two = try Element.parse(
    """
    <message xmlns='jabber:client'>
      <body>plain</body>
      <html xmlns='http://jabber.org/protocol/xhtml-im'><body xmlns='http://www.w3.org/1999/xhtml'>rich</body></html>
    </message>
    """)
let plain: [String] = two.find("body#")
#expect(plain == ["plain"])
let inner: [String] = two.find("{*}*/{*}body#")
#expect(inner == ["rich"])
#sourceLocation()
#sourceLocation(file: "Sources/KalijXML/KalijXML.docc/QueryLanguage.md", line: 113)
let mutual: [String] = iq.find("{jabber:iq:roster}query/item<subscription=both>@jid")
#expect(mutual == ["nurse@example.com", "romeo@example.net"])

let named = iq.find("{jabber:iq:roster}query/item<name~>") as [Element]
#expect(named.count == 2)
#sourceLocation()
#sourceLocation(file: "Sources/KalijXML/KalijXML.docc/QueryLanguage.md", line: 134)
let failure = try Element.parse(
    """
    <error xmlns='jabber:client' type='cancel'>
      <item-not-found xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/>
      <text xmlns='urn:ietf:params:xml:ns:xmpp-stanzas' xml:lang='en'>No such room</text>
    </error>
    """)
let condition: String? = failure.findFirst("{urn:ietf:params:xml:ns:xmpp-stanzas}!text$")
#expect(condition == "item-not-found")
let language: String? = failure.findFirst("{urn:ietf:params:xml:ns:xmpp-stanzas}text@xml:lang")
#expect(language == "en")
let attributes: [String: String]? = failure.findFirst("/@@")
#expect(attributes == ["type": "cancel", "xmlns": "jabber:client"])
#sourceLocation()
#sourceLocation(file: "Sources/KalijXML/KalijXML.docc/QueryLanguage.md", line: 152)
let paris: Element? = iq.findFirst("{jabber:iq:roster}query/item<jid=paris@example.com>")
paris?["name"] = "County Paris"
#expect(iq.findFirst("{jabber:iq:roster}query/item<jid=paris@example.com>@name") == "County Paris")
#sourceLocation()
#sourceLocation(file: "Sources/KalijXML/KalijXML.docc/QueryLanguage.md", line: 176)
let approved: [Bool] = iq.find("{jabber:iq:roster}query/item@approved|bool")
#expect(approved == [true])
let number: Int? = iq.findFirst("{jabber:iq:roster}query@ver|int")
#expect(number == 7)
let noNumber: Int? = iq.findFirst("/@id|int")
#expect(noNumber == nil)

let delayed = try Element.parse("<message><delay xmlns='urn:xmpp:delay' stamp='2002-09-10T23:08:25Z'/></message>")
let stamp: Date? = delayed.findFirst("{urn:xmpp:delay}delay@stamp|datetime")
#expect(stamp?.timeIntervalSince1970 == 1_031_699_305)
#sourceLocation()
#sourceLocation(file: "Sources/KalijXML/KalijXML.docc/QueryLanguage.md", line: 194)
let length = iq.withFirst("{jabber:iq:roster}query/item@jid") { $0.count }
#expect(length == 17)
#sourceLocation()
#sourceLocation(file: "Sources/KalijXML/KalijXML.docc/QueryLanguage.md", line: 204)
let contact = "romeo@example.net"
let name: String? = iq.findFirst("{jabber:iq:roster}query/item<jid=\(contact)>@name")
#expect(name == "Romeo")
let sameName: String? = iq.findFirst("{jabber:iq:roster}query/item<jid=%@>@name", contact)
#expect(sameName == "Romeo")

let hostile = "x>/..//<jid=romeo@example.net"
#expect(iq.check("{jabber:iq:roster}query/item<jid=\(hostile)>") == false)
#sourceLocation()
#sourceLocation(file: "Sources/KalijXML/KalijXML.docc/QueryLanguage.md", line: 223)
let jingle = try Element.parse("<jingle xmlns='urn:xmpp:jingle:1' action='session-accept'/>")
#expect(jingle.check("/<action~^session-(initiate|accept)$>") == true)
#expect(jingle.check("/<action~(?i)SESSION>") == true)
#expect(jingle.check("/<action~^session$>") == false)
#sourceLocation()
#sourceLocation(file: "Sources/KalijXML/KalijXML.docc/QueryLanguage.md", line: 240)
let service = try Element.parse(
    """
    <iq xmlns='jabber:client' type='result' id='s2'>
      <query xmlns='http://jabber.org/protocol/disco#info'>
        <x xmlns='jabber:x:data' type='result'>
          <field var='FORM_TYPE' type='hidden'><value>urn:xmpp:http:upload:0</value></field>
          <field var='max-file-size'><value>5242880</value></field>
        </x>
      </query>
    </iq>
    """)
let limit: Int? = service.findFirst(
    #"{http://jabber.org/protocol/disco#info}query/\{urn:xmpp:http:upload:0}result@max-file-size\|int"#)
#expect(limit == 5_242_880)

let field: DataForm.Field? = service.findFirst(#"{http://jabber.org/protocol/disco#info}query/\&max-file-size\"#)
#expect(field?.values == ["5242880"])

let form: DataForm? = service.findFirst(#"{http://jabber.org/protocol/disco#info}query/\result\"#)
#expect(form?.formType == "urn:xmpp:http:upload:0")
#sourceLocation()
#sourceLocation(file: "Sources/KalijXML/KalijXML.docc/QueryLanguage.md", line: 281)
do {
    _ = try Query<String>(parsing: "query//item@jid")
Issue.record("nothing was thrown") } catch {
    #expect(error.column == 7)
    #expect(error.description.hasPrefix("query \"query//item@jid\", column 7: expected a name") == true)
}

let typed = try Query<QueryResult>(parsing: "{jabber:iq:roster}query@ver|int")
#expect(iq.findFirst(typed) == .int(7))
#sourceLocation()
#sourceLocation(file: "Sources/KalijXML/KalijXML.docc/QueryLanguage.md", line: 298)
let itemCount: Query<Element> = "{jabber:iq:roster}query/item"
#expect(iq.find(itemCount).count == 3)
#sourceLocation()
    }

    @Test("WorkingWithElements.md") func articleWorkingWithElements() throws {
#sourceLocation(file: "Sources/KalijXML/KalijXML.docc/WorkingWithElements.md", line: 13)
let services = Element(
    "services", xmlns: "urn:xmpp:extdisco:2",
    children: [
        Element("service", attributes: ["type": "stun", "host": "stun.example.org", "port": "3478"])
    ])
#expect(services.children[0].namespace == "urn:xmpp:extdisco:2")

let iq = Element("iq", xmlns: "jabber:client", attributes: ["type": "result", "id": "e1"], children: [services])
#expect(services.parent == nil)
#sourceLocation()
#sourceLocation(file: "Sources/KalijXML/KalijXML.docc/WorkingWithElements.md", line: 28)
let body = iq.add(Element("note"))
body.add(text: "1 < 2")
#expect(iq.child("note")?.text == "1 < 2")
#sourceLocation()
#sourceLocation(file: "Sources/KalijXML/KalijXML.docc/WorkingWithElements.md", line: 42)
iq["xml:lang"] = "en"
iq["id"] = nil
iq["{urn:example}mark"] = "x"
#expect(iq.attributes == ["type": "result", "xml:lang": "en", "{urn:example}mark": "x", "xmlns": "jabber:client"])
#expect(iq.child("services", "urn:xmpp:extdisco:2")?["xmlns"] == "urn:xmpp:extdisco:2")
#sourceLocation()
#sourceLocation(file: "Sources/KalijXML/KalijXML.docc/WorkingWithElements.md", line: 55)
let message = try Element.parse("<message xmlns='jabber:client'><body>one</body></message>")
let found: Element? = message.findFirst("body")
let copy = found?.copy()
found?.setText("two")
#expect(message.findFirst("body#") == "two")
#expect(copy?.text == "one")
#expect(copy?.namespace == "jabber:client")
#sourceLocation()
#sourceLocation(file: "Sources/KalijXML/KalijXML.docc/WorkingWithElements.md", line: 67)
let first = try Element.parse("<a xmlns='u' x='1' y='2'/>")
let second = try Element.parse("<p:a xmlns:p='u' y='2' x='1'></p:a>")
#expect(first == second)
#expect(first.isSame(as: second) == false)
#sourceLocation()
#sourceLocation(file: "Sources/KalijXML/KalijXML.docc/WorkingWithElements.md", line: 80)
let mixed = try Element.parse("<p>one <em>two</em> three</p>")
#expect(mixed.text == "one  three")
#expect(mixed.description == "<p>one <em>two</em> three</p>")
#sourceLocation()
#sourceLocation(file: "Sources/KalijXML/KalijXML.docc/WorkingWithElements.md", line: 92)
let presence = Element("presence", xmlns: "jabber:client", children: [Element("show", text: "away")])
#expect(presence.xml() == "<presence xmlns='jabber:client'><show>away</show></presence>")
#expect(presence.xml(in: "jabber:client") == "<presence><show>away</show></presence>")
#expect(try Element.parse(presence.xml()) == presence)
#sourceLocation()
    }

}
