import KalijXML
import TestSupport
import Testing

/// Subqueries compared with their form, over random elements similar to forms.
@Suite struct RandomFormQueryTests {
    private struct Generator {
        var random = Seeded(RandomInput.freshSeed("queries of forms"))
        private static let names = [
            "title", "instructions", "field", "field", "field", "reported", "item", "item", "value", "value", "option",
            "desc", "required", "x", "other",
        ]
        private static let texts = ["a", "b", "FORM_TYPE", "form", "result", "c"]

        mutating func number(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &random) }
        mutating func text() -> String { Self.texts[number(Self.texts.count)] }

        mutating func element(_ name: String, depth: Int) -> Element {
            let element = Element(name)
            if number(8) == 0 { element["xmlns"] = number(2) == 0 ? "urn:other" : "" }
            for attribute in ["var", "type", "label"] where number(3) > 0 { element[attribute] = text() }
            if number(2) == 0 { element.add(text: text()) }
            if depth > 0 {
                for _ in 0..<number(7) {
                    element.add(self.element(Self.names[number(Self.names.count)], depth: depth - 1))
                }
            }
            if number(4) == 0 { element.add(text: text()) }
            return element
        }

        mutating func form() -> Element {
            let form = element("x", depth: 3)
            form["xmlns"] = "jabber:x:data"
            return form
        }
    }

    @Test("every form is written so that it reads the same, and no question traps")
    func reading() throws {
        var generator = Generator()
        for _ in 0..<RandomInput.rounds(500) {
            let element = generator.form()
            var form = try DataForm(element)
            let again = try DataForm(form.element)
            #expect(again == form, "\(element)")
            #expect(again.element == form.element)
            _ = form.problems()
            form.type = .form
            for field in form.fields {
                try? form.fill(field.name ?? "", with: generator.text())
                try? form.clear(field.name ?? "")
            }
            _ = try? form.answered(by: form.submission())
        }
    }

    /// The expected result of a subquery, according to the form as a value.
    private func expected(
        _ form: DataForm, formType: String?, type: String?, item: Int?, field: String
    ) -> DataForm.Field? {
        if let type, form.type.rawValue != type { return nil }
        if let formType, form["FORM_TYPE"]?.value != formType { return nil }
        if let item {
            guard item < form.items.count else { return nil }
            return DataForm.Item(fields: form.describedFields(of: form.items[item]))[field]
        }
        if let own = form[field] { return own }
        return form.items.first.flatMap { DataForm.Item(fields: form.describedFields(of: $0))[field] }
    }

    @Test("a subquery gives the form's values")
    func queries() throws {
        var generator = Generator()
        var found = 0
        for _ in 0..<RandomInput.rounds(500) {
            let element = generator.form()
            let form = try DataForm(element)
            let names = (form.fields + form.items.flatMap(\.fields)).compactMap(\.name)
            if form["FORM_TYPE"]?.value == "" { continue }
            let name = names.randomElement(using: &generator.random) ?? generator.text()
            let formType = generator.number(3) == 0 ? form["FORM_TYPE"]?.value : nil
            let type = generator.number(4) == 0 ? generator.text() : nil
            let item = generator.number(3) == 0 ? generator.number(3) : nil
            let head =
                "/\\" + (formType.map { "{\($0)}" } ?? "") + (type ?? (generator.number(2) == 0 ? "*" : ""))
                + (item.map { "[\($0)]" } ?? "")
            let wanted = expected(form, formType: formType, type: type, item: item, field: name)
            let query = head + "@" + name + "\\"
            #expect(
                element.findFirst(try Query<String>(parsing: query)) == wanted?.value, "\(query) of \(element)")
            #expect(element.check(try Query<String>(parsing: query)) == (wanted?.value != nil))
            let whole = head + "&" + name + "\\"
            #expect(
                element.findFirst(try Query<DataForm.Field>(parsing: whole)) == wanted, "\(whole) of \(element)")
            if wanted != nil { found += 1 }
        }
        #expect(found > 50, "\(found)")
    }
}
