import FoundationEssentials
import KalijXML
import TestSupport
import Testing

/// read(write(form)) == form, over random forms.
@Suite struct RandomFormTests {
    private struct Generator {
        var random = Seeded(RandomInput.freshSeed("forms"))
        private static let pieces = [
            "a", "B", "é", "😀", "<", ">", "&", "'", "\"", " ", "\n", "\t", "\r", "]]>", "\u{FFFD}", "-", "{", "\\",
        ]

        mutating func number(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &random) }
        mutating func text() -> String { (0..<number(5)).map { _ in Self.pieces[number(Self.pieces.count)] }.joined() }
        mutating func maybe() -> String? { number(2) == 0 ? nil : text() }
        mutating func several<Value>(_ make: (inout Generator) -> Value) -> [Value] {
            (0..<number(4)).map { _ in make(&self) }
        }

        mutating func element() -> DataForm.Extension {
            let names = ["media", "validate", "field", "value", "x"]
            let element = Element(
                names[number(names.count)], xmlns: number(3) == 0 ? nil : "urn:\(number(3))", attributes: ["a": text()])
            element.add(text: text())
            element.add(Element("inner", xmlns: number(2) == 0 ? nil : "jabber:x:data", text: text()))
            return DataForm.Extension(element)
        }

        mutating func field() -> DataForm.Field {
            let types = ["boolean", "fixed", "list-multi", "text-multi", "hidden", "own", ""]
            var field = DataForm.Field(
                maybe(), number(3) == 0 ? nil : .init(rawValue: types[number(types.count)]), label: maybe(),
                description: maybe(), isRequired: number(2) == 0, values: several { $0.text() })
            field.options = several { .init($0.text(), label: $0.maybe()) }
            field.extensions = several { $0.element() }
            return field
        }

        mutating func item() -> DataForm.Item {
            var item = DataForm.Item(fields: several { $0.field() })
            item.extensions = several { $0.element() }
            return item
        }

        mutating func form() -> DataForm {
            let types: [DataForm.FormType] = [.form, .submit, .result, .cancel, .unspecified, .init(rawValue: "own")]
            var form = DataForm(
                types[number(types.count)], title: maybe(), instructions: several { $0.text() },
                fields: several { $0.field() })
            form.reported = number(2) == 0 ? nil : item()
            form.items = several { $0.item() }
            form.extensions = several { $0.element() }
            return form
        }
    }

    @Test("a written form is read again, as a tree, as text, and as JSON")
    func roundTrip() throws {
        var generator = Generator()
        for _ in 0..<RandomInput.rounds(150) {
            let form = generator.form()
            let xml = form.element.xml()
            #expect(try DataForm(form.element) == form, "\(xml)")
            let read = try DataForm(Element.parse(xml))
            #expect(read == form, "\(xml)")
            #expect(read.element.xml() == xml)
            #expect(try JSONDecoder().decode(DataForm.self, from: JSONEncoder().encode(form)) == form, "\(xml)")
        }
    }

    @Test("a submission of a random form is allowed by the standard, and accepted by the form")
    func submissions() throws {
        var generator = Generator()
        var submitted = 0
        for _ in 0..<RandomInput.rounds(150) {
            var form = generator.form()
            form.type = .form
            guard let answer = try? form.submission() else { continue }
            submitted += 1
            for field in answer.fields {
                #expect(field.type != .fixed && field.name != nil)
                #expect(field.label == nil && field.description == nil && field.options == [] && !field.isRequired)
                #expect(field.extensions == [])
            }
            #expect(answer.reported == nil && answer.items == [] && answer.title == nil)
            let names = form.fields.compactMap(\.name)
            if Set(names).count == names.count { #expect(throws: Never.self) { try form.answered(by: answer) } }
        }
        #expect(submitted > 30)
    }
}
