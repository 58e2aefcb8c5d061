import KalijXML
import Testing

/// Faults in data forms found by the fuzzers.
@Suite struct FormRegressionTests {
    // "Reading what was written gives an equal form; what other standards put into a form is kept."
    @Test("a child of a form in no namespace was in the form's after reading and writing")
    func childWithoutNamespace() throws {
        let written = "<x xmlns='jabber:x:data'><a xmlns=''/><field var='f'><b xmlns=''><c/></b></field></x>"
        let form = try DataForm(Element.parse(written))
        #expect(form.element.xml() == written)
        #expect(try DataForm(form.element) == form)
    }
}
