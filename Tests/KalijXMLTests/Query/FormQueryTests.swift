import FoundationEssentials
import KalijXML
import Testing

/// Data form subqueries: `\[{FORM_TYPE}][type][[index]][@field | &field]\`.
@Suite struct FormQueryTests {
    private let room: Element
    private let table: Element

    init() throws {
        room = try Element.parse(
            """
            <query xmlns='http://jabber.org/protocol/disco#info'><x xmlns='jabber:x:data' type='result'>\
            <field var='FORM_TYPE' type='hidden'><value>urn:room</value></field>\
            <field var='muc#roominfo_description'><value>Thunder</value><value>and lightning</value></field>\
            <field var='occupants' type='text-single' label='How many'><desc>People</desc><required/><value>3</value>\
            <option label='Three'><value>3</value></option><option><value>4</value></option></field>\
            <field var='none'/><field var='empty'><value/></field><field var='odd [name]&amp;@{}|/'><value>o</value>\
            </field></x><x xmlns='jabber:x:data' type='form'/><x xmlns='urn:own' type='form'>\
            <field var='a'><value>own</value></field></x><form xmlns='jabber:x:data'><field var='a'><value>named</value>\
            </field></form></query>
            """)
        table = try Element.parse(
            """
            <x xmlns='jabber:x:data' type='result'><title>T</title><field var='total'><value>2</value></field><reported>\
            <field var='name' type='text-single' label='Name'/><field var='FORM_TYPE'><value>no</value></field>\
            </reported><item><field var='name'><value>one</value></field><field var='FORM_TYPE'><value>item</value>\
            </field></item><item><field var='name' label='Own'><value>two</value></field><field var='at'>\
            <value>2002-09-10T23:08:25Z</value></field></item></x>
            """)
    }

    private func texts(_ query: Query<String>) -> [String] { room.find(query) }

    @Test("without name and namespace the segment means {jabber:x:data}x")
    func segment() {
        #expect(texts("\\@occupants\\") == ["3"])
        #expect((room.find("\\\\") as [DataForm]).count == 2)
        #expect(table.findFirst("/\\@total\\") == "2")
        #expect(table.findFirst("\\@total\\") as String? == nil)
    }

    @Test("name and namespace default separately")
    func separateDefaults() {
        #expect(texts("{urn:own}\\@a\\") == ["own"])
        #expect(texts("{urn:own}x\\@a\\") == ["own"])
        #expect(texts("x\\@occupants\\") == ["3"])
        #expect(texts("form\\@a\\") == ["named"])
        #expect(texts("*\\@a\\") == ["named"])
        #expect(texts("{*}\\@a\\") == ["own"])
        #expect(texts("{*}*\\@a\\") == ["own", "named"])
        #expect(texts("<type=result>\\@occupants\\") == ["3"])
        #expect(texts("<type=form>\\@occupants\\") == [])
        #expect(texts("!x\\@a\\") == ["named"])
        #expect(table.child("title")?.findFirst("..//\\@total\\") == "2")
    }

    @Test("{v}: the form's FORM_TYPE field has this value; type: the form's type; * or absent: any")
    func conditions() {
        #expect(room.check("\\{urn:room}result\\"))
        #expect(room.check("\\{urn:room}\\"))
        #expect(room.check("\\{urn:room}*\\"))
        #expect(room.check("\\{*}*\\"))
        #expect(room.check("\\result@occupants\\"))
        #expect(!room.check("\\{urn:roo}\\"))
        #expect(!room.check("\\{urn:room}form\\"))
        #expect(!room.check("\\submit\\"))
    }

    @Test("FORM_TYPE is looked up among the form's own fields, not the items' fields")
    func formTypeOfItems() {
        #expect(!table.check("/\\{item}\\"))
        #expect(!table.check("/\\{no}\\"))
        #expect(table.check("/\\{*}\\"))
    }

    @Test("[i] is the i-th item; out of range, or a form without items: no result")
    func items() {
        #expect(table.findFirst("/\\[0]@name\\") == "one")
        #expect(table.findFirst("/\\result[1]@name\\") == "two")
        #expect(table.check("/\\[1]\\"))
        #expect(!table.check("/\\[2]\\"))
        #expect(!table.check("/\\[2]@name\\"))
        #expect(!table.check("/\\[2]&name\\"))
        #expect(!table.check("/\\[99999999999999999999999999]@name\\"))
        #expect(!table.check("/\\[0]@total\\"))
        #expect(!room.check("\\[0]@occupants\\"))
        #expect(!room.check("\\[0]\\"))
    }

    @Test("without an index: the form's own field, else the first item's")
    func withoutIndex() {
        #expect(table.findFirst("/\\@total\\") == "2")
        #expect(table.findFirst("/\\@name\\") == "one")
        #expect(!table.check("/\\@at\\"))
    }

    @Test("of a field with several values the first; a field without <value/>: no result")
    func values() {
        #expect(texts("\\@muc#roominfo_description\\") == ["Thunder"])
        #expect(texts("\\@none\\") == [])
        #expect(texts("\\@empty\\") == [""])
        #expect(texts("\\@missing\\") == [])
        #expect(!room.check("\\@none\\"))
        #expect(room.withFirst("\\@occupants\\") { Array($0) } == [UInt8(ascii: "3")])
    }

    @Test("field names may hold any character but a backslash")
    func oddNames() {
        #expect(texts("\\@odd [name]&@{}|/\\") == ["o"])
        #expect(room.check("\\&odd [name]&@{}|/\\"))
    }

    @Test("a conversion may follow @field")
    func conversions() {
        #expect(room.findFirst("\\@occupants\\|int") == 3)
        #expect(room.findFirst("\\@occupants\\|uint") == 3 as UInt)
        #expect(room.findFirst("\\@occupants\\|bool") as Bool? == nil)
        #expect(!room.check("\\@occupants\\|bool"))
        let date: Date? = table.findFirst("/\\[1]@at\\|datetime")
        #expect(date?.timeIntervalSince1970 == 1_031_699_305)
    }

    @Test("&field: name, type, label, required, description, all values, options")
    func fields() throws {
        let field: DataForm.Field = try #require(room.findFirst("\\&occupants\\"))
        #expect(field.name == "occupants")
        #expect(field.type == .textSingle)
        #expect(field.label == "How many")
        #expect(field.isRequired)
        #expect(field.description == "People")
        #expect(field.values == ["3"])
        #expect(field.options == [.init("3", label: "Three"), .init("4")])
        let lines: DataForm.Field? = room.findFirst("\\&muc#roominfo_description\\")
        #expect(lines?.values == ["Thunder", "and lightning"])
        let empty: DataForm.Field? = room.findFirst("\\&none\\")
        #expect(empty?.values == [])
    }

    @Test("a field of an item has the header's type and label, unless it has its own")
    func describedFields() throws {
        let first: DataForm.Field? = table.findFirst("/\\&name\\")
        #expect(first == .init("name", .textSingle, label: "Name", values: ["one"]))
        let second: DataForm.Field? = table.findFirst("/\\[1]&name\\")
        #expect(second == .init("name", .textSingle, label: "Own", values: ["two"]))
    }

    @Test("neither @ nor &: the form")
    func forms() {
        let forms: [DataForm] = room.find("\\\\")
        #expect(forms.map(\.type) == [.result, .form])
        #expect(forms.first?.formType == "urn:room")
        let form: DataForm? = table.findFirst("/\\[1]\\")
        #expect(form?.title == "T")
        #expect(form?.items.count == 2)
    }

    @Test("a query of unknown kind gives forms and fields")
    func dynamic() throws {
        func result(_ text: String) throws -> QueryResult? { table.findFirst(try Query<QueryResult>(parsing: text)) }
        #expect(try result("/\\\\") == .form(DataForm(table)))
        #expect(try result("/\\&total\\") == .field(.init("total", values: ["2"])))
        #expect(try result("/\\@total\\|int") == .int(2))
        #expect(try result("/\\@total\\") == .text("2"))
    }

    @Test(
        "syntax errors name the column and the expected text",
        arguments: [
            ("\\", 2, "\"[\", \"@\", \"&\" or \"\\\""), ("\\{", 3, "\"}\""), ("\\{}\\", 3, "the value of a FORM_TYPE"),
            ("\\{a", 4, "\"}\""), ("\\{a}", 5, "\"[\""), ("\\form", 6, "\"[\""), ("\\1\\", 2, "a form type"),
            ("\\a b\\", 3, "a character of a name"), ("\\[", 3, "the number of an item"), ("\\[]\\", 3, "the number"),
            ("\\[-1]\\", 3, "the number"), ("\\[1", 4, "a digit or \"]\""), ("\\[1x]\\", 4, "a digit or \"]\""),
            ("\\[1]x\\", 5, "\"@\", \"&\""), ("\\@", 3, "the name of a field"), ("\\@\\", 3, "the name of a field"),
            ("\\&\\", 3, "the name of a field"), ("\\@a", 4, "\"\\\""), ("\\&a", 4, "\"\\\""),
            ("\\&a\\|int", 5, "the end"), ("\\\\|int", 3, "the end"), ("\\@a\\x", 5, "\"|\" or the end"),
            ("\\@a\\|x", 6, "bool, int"), ("\\@a\\/b", 5, "\"|\" or the end"), ("\\\\\\", 3, "the end"),
            ("é/{é}x\\{é}é@é", 14, "\"\\\""), ("..\\\\", 3, "\"/\""), ("a//\\\\", 3, "a name"),
        ])
    func syntax(_ query: String, _ column: Int, _ expected: String) {
        let error = #expect(throws: QuerySyntaxError.self, "\(query)") { try Query<QueryResult>(parsing: query) }
        #expect(error?.column == column, "\(error?.description ?? "")")
        #expect(error?.problem.hasPrefix("expected \(expected)") == true, "\(error?.description ?? "")")
    }

    @Test(
        "queries that compile",
        arguments: [
            "\\\\", "\\*\\", "\\{*}\\", "\\{*}*[0]&a\\", "a/b\\{a\\b}\\", "../\\@a\\", "a/..//\\@a\\", "/\\@a\\|base64",
            "a<b=c>\\form@%d\\", "\\@a|int\\",
        ])
    func compiles(_ query: String) {
        #expect(throws: Never.self, "\(query)") { try Query<QueryResult>(parsing: query) }
    }
}
