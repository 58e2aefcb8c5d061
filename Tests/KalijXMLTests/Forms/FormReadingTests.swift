import FoundationEssentials
import KalijXML
import TestSupport
import Testing

/// Reading, writing and checking forms.
@Suite struct FormReadingTests {
    private func read(_ inner: String, type: String = "form") throws -> DataForm {
        try DataForm(Element.parse("<x xmlns='jabber:x:data' type='\(type)'>\(inner)</x>"))
    }

    @Test("other elements than forms are refused")
    func noForm() throws {
        #expect(throws: FormError.notAForm("y")) { try DataForm(Element("y", xmlns: "jabber:x:data")) }
        #expect(throws: FormError.notAForm("x")) { try DataForm(Element("x", xmlns: "jabber:x:oob")) }
    }

    @Test("the default type is text-single, also for an unknown type; both are kept unchanged")
    func defaultType() throws {
        let form = try read("<field var='a'/><field var='b' type='urn:new'/><field var='c' type='boolean'/>")
        #expect(form.fields.map(\.effectiveType) == [.textSingle, .textSingle, .boolean])
        #expect(form.fields.map(\.type) == [nil, .init(rawValue: "urn:new"), .boolean])
        #expect(form.element.xml().contains("<field type='urn:new' var='b'/>"))
    }

    @Test("all ten field types of XEP-0004")
    func types() {
        let names = [
            "boolean", "fixed", "hidden", "jid-multi", "jid-single", "list-multi", "list-single", "text-multi",
            "text-private", "text-single",
        ]
        for name in names { #expect(DataForm.FieldType(rawValue: name).isKnown) }
        let several = names.filter { DataForm.FieldType(rawValue: $0).takesSeveralValues }
        #expect(several == ["hidden", "jid-multi", "list-multi", "text-multi"])
    }

    @Test("writing is canonical: order of the schema, the header before the items")
    func writing() throws {
        let form = try read(
            """
            <item><field var='a'><value>1</value></field></item><field var='FORM_TYPE' type='hidden'><value>u</value>\
            </field><instructions>i</instructions><reported><field var='a'/></reported><title>t</title>\
            <instructions>j</instructions>
            """, type: "result")
        #expect(
            form.element.xml() == """
                <x xmlns='jabber:x:data' type='result'><title>t</title><instructions>i</instructions>\
                <instructions>j</instructions><field type='hidden' var='FORM_TYPE'><value>u</value></field>\
                <reported><field var='a'/></reported><item><field var='a'><value>1</value></field></item></x>
                """)
        #expect(try DataForm(form.element) == form)
    }

    @Test("FORM_TYPE has a meaning only if hidden, except in a submission (XEP-0068)")
    func formType() throws {
        let open = "<field var='FORM_TYPE'><value>u</value></field>"
        #expect(try read(open).formType == nil)
        #expect(try read(open, type: "result").formType == nil)
        #expect(try read(open, type: "submit").formType == "u")
        #expect(try read("<field var='FORM_TYPE' type='hidden'><value>u</value></field>").formType == "u")
        let text = "<field var='FORM_TYPE' type='text-single'><value>u</value></field>"
        #expect(try read(text, type: "submit").formType == nil)
    }

    @Test("children of other standards survive: validation (XEP-0122), layout (XEP-0141)")
    func extensions() throws {
        let form = try read(
            """
            <page xmlns='http://jabber.org/protocol/xdata-layout' label='P'><fieldref var='a'/><text>Read</text></page>\
            <field var='a' type='text-single'><validate xmlns='http://jabber.org/protocol/xdata-validate' \
            datatype='xs:dateTime'><range min='1' max='2'/></validate></field><unknown/><reported><field var='a'/>\
            <o xmlns='urn:o'/></reported>
            """)
        let xml = form.element.xml()
        #expect(xml.contains("<page xmlns='http://jabber.org/protocol/xdata-layout' label='P'><fieldref var='a'/>"))
        #expect(xml.contains("datatype='xs:dateTime'><range max='2' min='1'/></validate></field>"))
        #expect(xml.contains("<unknown/>"))
        #expect(xml.contains("<field var='a'/><o xmlns='urn:o'/></reported>"))
        #expect(try DataForm(form.element) == form)
    }

    @Test("children in no namespace, or another, do not join the form when the form is written again")
    func foreignParts() throws {
        let form = try read(
            """
            <field var='a'><value xmlns=''>1</value><o:value xmlns:o='urn:o'>2</o:value></field>\
            <field xmlns='' var='b'><value>3</value></field><title xmlns='urn:o'>t</title>
            """)
        let again = try DataForm(form.element)
        #expect(form.fields.count == 1 && form["a"]?.values == [] && form.title == nil)
        #expect(again == form)
        #expect(!form.element.check("/\\@a\\"))
    }

    @Test(
        "the fields of XEP-0122's examples keep their validation",
        arguments: [
            "<validate datatype='xs:dateTime'/>", "<validate datatype='xs:dateTime'><basic/></validate>",
            "<validate datatype='xs:string'><open/></validate>",
            "<validate datatype='xs:dateTime'><range min='2003-10-05T00:00:00-07:00'/></validate>",
            "<validate datatype='xs:string'><regex>([0-9]{3})-([0-9]{2})-([0-9]{4})</regex></validate>",
            "<validate datatype='xs:string'><basic/><list-range min='1' max='3'/></validate>",
        ])
    func validation(inner: String) throws {
        let written = inner.replacing(
            "<validate ", with: "<validate xmlns='http://jabber.org/protocol/xdata-validate' ")
        let field = "<field var='evt' type='text-single' label='Event'>\(written)<value>v</value></field>"
        let form = try read(field)
        let validate = try #require(form.element.child("field")?.children.last)
        #expect(try validate == Element.parse(written))
        #expect(form["evt"]?.values == ["v"])
    }

    @Test("media (XEP-0221) are readable, and kept unchanged")
    func media() throws {
        let form = try read(
            """
            <field var='ocr'><media xmlns='urn:xmpp:media-element' height='80' width='290' alt='riddle'>
              <uri type='image/jpeg'>
                http://www.victim.com/challenges/ocr.jpeg?F3A6292C
              </uri>
              <uri type='audio/ogg; codecs=speex'>cid:sha1+f24030b8@bob.xmpp.org</uri>
            </media></field>
            """)
        let media = try #require(form["ocr"]?.media.first)
        #expect((media.width, media.height) == (290, 80))
        #expect(
            media.uris == [
                .init("http://www.victim.com/challenges/ocr.jpeg?F3A6292C", type: "image/jpeg"),
                .init("cid:sha1+f24030b8@bob.xmpp.org", type: "audio/ogg; codecs=speex"),
            ])
        #expect(form.element.xml().contains("alt='riddle'"))
        var field = DataForm.Field("ocr")
        field.media = [media]
        #expect(field.media == [media])
        field.media = []
        #expect(field.extensions == [])
    }

    @Test("values as Swift types; nil if the text does not convert")
    func values() throws {
        let form = try read(
            """
            <field var='n'><value>7</value></field><field var='t'><value>a</value><value>b</value></field>\
            <field var='none'/>
            """)
        #expect(form.value("n") == 7)
        #expect(form.value("n") == "7")
        #expect(form.value("n") as Bool? == nil)
        #expect(form.value("t") == "a\nb")
        #expect(form.value("t") as Int? == nil)
        #expect(form.value("none") as String? == nil)
        #expect(form.value("none") == [String]())
        #expect(form.value("missing") as [String]? == nil)
        #expect(form.value("n") as UUID? == nil)
    }

    @Test("forbidden forms are found")
    func problems() throws {
        #expect(try read("<field/>").problems() == [.namelessField(0)])
        #expect(try read("<field type='fixed'/>").problems() == [])
        #expect(try read("<field var='a'/><field var='a'/>").problems() == [.duplicateField("a")])
        let option = "<option label='l'><value>v</value></option>"
        #expect(try read("<field var='a'>\(option)</field>").problems() == [.superfluousOptions(field: "a")])
        #expect(
            try read("<field var='a' type='list-single'>\(option)\(option)</field>").problems()
                == [.duplicateOption(field: "a", option: "l")])
        #expect(
            try read("<field var='a'><value>1</value><value>2</value></field>").problems()
                == [.severalValues(field: "a", count: 2)])
        #expect(try read("", type: "error").problems() == [.unknownType("error")])
        #expect(try read("<field var='a'/>", type: "cancel").problems() == [.superfluousFields(.cancel)])
        let row = "<item><field var='a'/></item>"
        #expect(try read(row).problems() == [.superfluousItems(.form)])
        #expect(try read("<field var='a'/>\(row)", type: "result").problems() == [.superfluousFields(.result)])
        #expect(
            try read("<reported><field var='b'/></reported>\(row)", type: "result").problems()
                == [.incompleteItem(0, field: "b")])
        #expect(DataForm(.unspecified).problems() == [.unknownType("")])
    }

    @Test("an option without a value is left out, as is a text between")
    func garbage() throws {
        let form = try read("text<field var='a' type='list-single'>x<option label='Juliet'>Sun</option></field>")
        #expect(form["a"]?.options == [])
        #expect(form.problems() == [])
    }

    @Test("a form of thousands of fields is read and written in a time that grows with their number")
    func large() throws {
        func cost(_ rows: Int) -> Double {
            var form = DataForm(.result)
            form.items = (0..<rows).map {
                DataForm.Item(fields: [.init("a", value: $0), .init("b", value: "x"), .init("c", value: true)])
            }
            return ThreadCost.least(of: 3) { #expect((try? DataForm(form.element)) == form) }
        }
        let (few, many) = (cost(100), cost(3_000))
        #expect(
            many < 150 * few, "\(few) s and \(many) s; a time that grows with the square would be 900 times as much")
    }
}
