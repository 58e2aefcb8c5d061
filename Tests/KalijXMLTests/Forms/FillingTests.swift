import FoundationEssentials
import KalijXML
import Testing

/// Filling in, submitting and reading answers.
@Suite struct FillingTests {
    private let form = DataForm(
        .form, formType: "urn:test",
        fields: [
            .fixed("Look"), .init("text", .textSingle, label: "Text", description: "Some", values: ["old"]),
            .init("lines", .textMulti), .init("yes", .boolean),
            .init("one", .listSingle, options: [.init("a"), .init("b", label: "B")]),
            .init("many", .listMulti, values: ["a"], options: [.init("a"), .init("b"), .init("c")]),
            .init("jids", .jidMulti), .init("plain"), .init("new", .init(rawValue: "urn:new-type")),
            .init("token", .hidden, values: ["1", "2"]),
        ])

    @Test("a submission has no fixed fields, labels, descriptions or options; hidden fields are sent back")
    func submission() throws {
        #expect(
            try form.submission().element.xml() == """
                <x xmlns='jabber:x:data' type='submit'>\
                <field type='hidden' var='FORM_TYPE'><value>urn:test</value></field>\
                <field type='text-single' var='text'><value>old</value></field>\
                <field type='list-multi' var='many'><value>a</value></field><field type='jid-multi' var='jids'/>\
                <field type='hidden' var='token'><value>1</value><value>2</value></field></x>
                """)
    }

    @Test("typed values are written as the field's type requires")
    func typedValues() throws {
        var form = form
        try form.fill("lines", with: "a\r\nb\n\nc\rd")
        #expect(form["lines"]?.values == ["a", "b", "", "c", "d"])
        try form.fill("yes", with: true)
        #expect(form["yes"]?.values == ["1"])
        #expect(form.value("yes") == true)
        try form.fill("many", with: ["c", "a"])
        #expect(form["many"]?.values == ["a", "c"], "XEP-0004: MUST NOT modify the order of items")
        try form.fill("jids", with: ["b@c", "a@b", "b@c"])
        #expect(form["jids"]?.values == ["b@c", "a@b"], "XEP-0004: duplicate JIDs MUST be ignored")
        let date = Date(timeIntervalSince1970: 1_031_699_305.25)
        try form.fill("plain", with: date)
        #expect(form["plain"]?.values == ["2002-09-10T23:08:25.25Z"])
        #expect(form.value("plain") == date)
        try form.fill("plain", with: 1.5)
        #expect(form.value("plain") == 1.5)
        try form.fill("plain", with: Data("hello".utf8))
        #expect(form["plain"]?.values == ["aGVsbG8="])
        #expect(form.value("plain") == Data("hello".utf8))
        try form.fill("plain", with: UInt.max)
        #expect(form.value("plain") == UInt.max)
        #expect(form.value("plain") as Int? == nil)
        try form.fill("new", with: ["x", "y"])
        #expect(form["new"]?.values == ["x", "y"], "of an unknown type nobody can tell")
    }

    @Test("a value that does not fit is refused, with the field's name, and changes nothing")
    func refused() {
        var form = form
        #expect(throws: FormError.noSuchField("texts")) { try form.fill("texts", with: "a") }
        #expect(throws: FormError.notABoolean(field: "yes", value: "maybe")) { try form.fill("yes", with: "maybe") }
        #expect(throws: FormError.notAnOption(field: "one", value: "c")) { try form.fill("one", with: "c") }
        #expect(throws: FormError.notAnOption(field: "many", value: "d")) { try form.fill("many", with: ["a", "d"]) }
        #expect(throws: FormError.severalValues(field: "text", count: 2)) { try form.fill("text", with: ["a", "b"]) }
        #expect(throws: FormError.severalValues(field: "plain", count: 2)) { try form.fill("plain", with: ["a", "b"]) }
        #expect(form == self.form)
        form.type = .result
        #expect(throws: FormError.notToBeFilled(.result)) { try form.fill("text", with: "a") }
        #expect(throws: FormError.notToBeFilled(.result)) { try form.submission() }
        #expect("\(FormError.notAnOption(field: "one", value: "c"))" == "the field \"one\" has no option \"c\"")
    }

    @Test("a cleared field is submitted, so the field loses its value")
    func clearing() throws {
        var form = form
        try form.clear("text")
        try form.clear("many")
        let xml = try form.submission().element.xml()
        #expect(xml.contains("<field type='text-single' var='text'><value/></field>"))
        #expect(xml.contains("<field type='list-multi' var='many'/>"))
        #expect(throws: FormError.noSuchField("nothing")) { try form.clear("nothing") }
    }

    @Test("a required field wants a value, and not an empty one")
    func required() throws {
        var form = form
        form.fields[3].isRequired = true
        #expect(throws: FormError.missingValue(field: "lines")) { try form.submission() }
        form.fields[3].values = [""]
        #expect(throws: FormError.missingValue(field: "lines")) { try form.submission() }
        try form.fill("lines", with: "a")
        #expect(throws: Never.self) { try form.submission() }
    }

    @Test("with an open list (XEP-0122) any value will do", arguments: ["open", "range", "regex"])
    func openLists(method: String) throws {
        var form = form
        let validate = Element(
            "validate", xmlns: "http://jabber.org/protocol/xdata-validate", attributes: ["datatype": "xs:string"],
            children: [Element(method)])
        form.fields[5].extensions = [.init(validate)]
        try form.fill("one", with: "other")
        #expect(try form.submission()["one"]?.values == ["other"])
        #expect(throws: FormError.self) { try form.fill("many", with: "other") }
    }

    @Test("a cancellation holds no fields")
    func cancellation() {
        #expect(DataForm.cancellation.element.xml() == "<x xmlns='jabber:x:data' type='cancel'/>")
    }

    @Test("fields missing in an answer keep their values, and fields missing in the form are ignored")
    func answers() throws {
        let answer = DataForm(.submit, fields: [.init("one", value: "b"), .init("stranger", value: 1)])
        let answered = try form.answered(by: answer)
        #expect(answered["one"]?.values == ["b"])
        #expect(answered["text"]?.values == ["old"])
        #expect(answered["stranger"] == nil)
        #expect(answered.formType == "urn:test")
        #expect(throws: FormError.notAnOption(field: "one", value: "z")) {
            try form.answered(by: DataForm(.submit, fields: [.init("one", value: "z")]))
        }
        #expect(throws: FormError.notASubmission(.cancel)) { try form.answered(by: .cancellation) }
        var strict = form
        strict.fields[2].isRequired = true
        #expect(throws: FormError.missingValue(field: "text")) { try strict.answered(by: answer) }
    }
}
