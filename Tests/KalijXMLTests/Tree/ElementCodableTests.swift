import FoundationEssentials
import KalijXML
import Testing

/// Elements and forms as bound values of handlers.
@Suite struct ElementCodableTests {
    private struct Bound: Codable, Equatable {
        var element: Element
        var form: DataForm?
    }

    private func coded(_ element: Element) throws -> Element {
        try JSONDecoder().decode(Element.self, from: JSONEncoder().encode(element))
    }

    @Test("an element is coded as its XML in one string")
    func string() throws {
        let json = try JSONEncoder().encode(Bound(element: Element("a", xmlns: "u", text: "<&>"), form: .cancellation))
        let object = try JSONDecoder().decode([String: String].self, from: json)
        #expect(object["element"] == "<a xmlns='u'>&lt;&amp;&gt;</a>")
        #expect(object["form"] == "<x xmlns='jabber:x:data' type='cancel'/>")
    }

    @Test(
        "round trip equal",
        arguments: [
            "<a/>", "<a xmlns='u'/>", "<a xmlns='u'>t<b xmlns=''/>u<c d='&#10;&apos;'/>v</a>",
            "<a xml:lang='en' xmlns:p='q' p:r='s'> \u{1F600} </a>", "<a><b xmlns='u'><c xmlns=''/></b></a>",
        ])
    func roundTrip(xml: String) throws {
        let element = try Element.parse(xml)
        #expect(try coded(element) == element)
        #expect(try coded(element).xml() == element.xml())
    }

    @Test("an element keeps its effective namespace")
    func effectiveNamespace() throws {
        let message = try Element.parse("<message xmlns='jabber:client'><body>Hi<b/></body></message>")
        let body = try #require(message.child("body"))
        let read = try coded(body)
        #expect(read.namespace == "jabber:client")
        #expect(read.child("b") != nil)
        #expect(read == body)
    }

    @Test("an element without a namespace takes the namespace of its later parent, also after coding")
    func inheriting() throws {
        let message = Element("message", xmlns: "jabber:client")
        let body = message.add(try coded(Element("body", children: [Element("b"), Element("c", xmlns: "u")])))
        #expect(body.namespace == "jabber:client")
        #expect(body.child("b", "jabber:client") != nil)
        #expect(message.xml() == "<message xmlns='jabber:client'><body><b/><c xmlns='u'/></body></message>")
    }

    @Test("limits for strangers do not apply: deep, wide and long elements")
    func large() throws {
        let root = Element("root")
        var deepest = root
        for _ in 0..<1_000 { deepest = deepest.add(Element("e")) }
        deepest.add(text: String(repeating: "x", count: 3 << 20))
        for number in 0..<1_000 { root["a\(number)"] = "v" }
        for _ in 0..<40_000 { root.add(Element("w")) }
        #expect(try coded(root) == root)
    }

    @Test(
        "text other than an element is a decoding error with line and column",
        arguments: [
            ("<a>\n  <b></a>", "line 2"), ("", "line 1"), ("<a/><b/>", "line 1"), ("a", "line 1"),
            ("<!DOCTYPE a><a/>", "line 1"), ("<a>\n\n<b", "line 3"),
        ])
    func errors(xml: String, place: String) throws {
        let json = try JSONEncoder().encode(["element": xml])
        let error = #expect(throws: DecodingError.self) { try JSONDecoder().decode(Bound.self, from: json) }
        guard case .dataCorrupted(let context) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(context.codingPath.map(\.stringValue) == ["element"])
        #expect(context.debugDescription.contains(place), "\(context.debugDescription)")
        #expect(context.debugDescription.contains("column"))
        #expect(context.underlyingError is XMLError)
    }

    @Test("an element other than a form is a decoding error")
    func noForm() throws {
        let json = try JSONEncoder().encode(["<x xmlns='jabber:x:oob'/>"])
        let error = #expect(throws: DecodingError.self) { try JSONDecoder().decode([DataForm].self, from: json) }
        #expect("\(String(describing: error))".contains("<x/> is no data form"))
    }
}
