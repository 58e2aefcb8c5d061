import KalijXML
import Testing

/// Faults in editing and writing found by the fuzzers.
@Suite struct WritingRegressionTests {
    // "reading it back gives an equal tree"
    private func expectRoundTrip(_ element: Element, _ written: String) throws {
        #expect(element.xml() == written)
        let read = try Element.parse(written)
        #expect(read == element)
        #expect(read.xml() == written)
    }

    @Test("an attribute with a forbidden name was there twice after being set twice")
    func impossibleName() throws {
        let element = Element("a")
        for key in ["a b", "", "xml:", "{n"] {
            element[key] = "1"
            element[key] = "2"
            #expect(element[key] == "2")
        }
        try expectRoundTrip(element, "<a _='2' _n='2' a_b='2' xml:_='2'/>")
        for key in ["a b", "", "xml:", "{n"] { element[key] = nil }
        #expect(element == Element("a"))
    }

    @Test("{}xmlns became an attribute beside the namespace")
    func declarationInBraces() throws {
        let element = Element("a", xmlns: "n")
        element["{}xmlns"] = "m"
        element["{http://www.w3.org/2000/xmlns/}xmlns"] = "m"
        #expect(element.namespace == "m" && element["{}xmlns"] == "m")
        try expectRoundTrip(element, "<a xmlns='m'/>")
    }

    @Test("the namespace of an attribute was written with forbidden characters")
    func impossibleNamespace() throws {
        let element = Element("a")
        element["{n\u{1}}x"] = "1"
        #expect(element["{n\u{1}}x"] == "1" && element["{n\u{FFFD}}x"] == "1")
        try expectRoundTrip(element, "<a xmlns:ns1='n\u{FFFD}' ns1:x='1'/>")
    }

    // Namespaces in XML 1.0, section 3: the prefix "xml" is bound to that name; no other prefix and no default
    // declaration may be; no element may have the prefix "xmlns".
    @Test("an element in the namespace of xml:lang was written with a declaration that no reader accepts")
    func elementInXML() throws {
        try expectRoundTrip(try Element.parse("<xml:a/>"), "<xml:a/>")
        let element = Element("a", xmlns: "n")
        let inner = element.add(Element("b", xmlns: "http://www.w3.org/XML/1998/namespace"))
        inner.add(Element("c", children: [Element("d", xmlns: "n"), Element("e")], text: "x"))
        try expectRoundTrip(
            element, "<a xmlns='n'><xml:b><xml:c>x<d xmlns='n'/><xml:e/></xml:c></xml:b></a>")
    }

    @Test("the namespace of declarations was written, which no reader accepts")
    func elementInDeclarations() throws {
        let element = Element("a", xmlns: "http://www.w3.org/2000/xmlns/")
        element["{http://www.w3.org/2000/xmlns/}x"] = "1"
        #expect(element.namespace == nil)
        try expectRoundTrip(element, "<a x='1'/>")
    }
}
