import KalijXML
import Testing

@Suite struct ElementTests {
    @Test("an element created without a namespace takes its parent's, in any order of building the tree")
    func inheritance() {
        let outermost = Element(
            "credentials", xmlns: "urn:xmpp:extdisco:2",
            children: [Element("service", children: [Element("inner")])])
        #expect(outermost.xml() == "<credentials xmlns='urn:xmpp:extdisco:2'><service><inner/></service></credentials>")
        let inner = Element("b")
        let middle = Element("a")
        let added = middle.add(inner)
        #expect(added.namespace == nil)
        let root = Element("r", xmlns: "u")
        let placed = root.add(middle)
        #expect(placed.namespace == "u")
        #expect(placed.children.first?.namespace == "u")
        #expect(placed.children.first?["xmlns"] == "u")
        #expect(added.namespace == nil)
    }

    @Test("children in a namespace are found in their order, whatever their names")
    func childrenInNamespace() throws {
        let root = try Element.parse(Array("<r xmlns='u'><a/><b xmlns='v'><c/></b>text<d xmlns='v'/><e/></r>".utf8))
        #expect(root.children(nil, "v").map(\.name) == ["b", "d"])
        #expect(root.children(nil, "u").map(\.name) == ["a", "e"])
        #expect(root.children(nil, "w").isEmpty)
    }

    @Test("texts with the bytes EF, and with characters that XML forbids")
    func forbidden() {
        #expect(Element("a", text: "\u{FFFD}\u{FFFE}\u{1}\u{7F}ﬁ").text == "\u{FFFD}\u{FFFD}\u{FFFD}\u{7F}ﬁ")
        #expect(Element("-a.1", attributes: ["1": "x"]).xml() == "<_-a.1 _1='x'/>")
    }

    @Test("adding copies in; the returned reference is inside")
    func adding() {
        let child = Element("c", attributes: ["x": "1"])
        let root = Element("r")
        let inside = root.add(child)
        child["x"] = "2"
        inside["y"] = "3"
        #expect(root.xml() == "<r><c x='1' y='3'/></r>")
        #expect(inside.parent == root)
        #expect(child.parent == nil)
        root.add(root)
        #expect(root.xml() == "<r><c x='1' y='3'/><r><c x='1' y='3'/></r></r>")
    }

    @Test("children and text keep their order")
    func mixed() throws {
        let text = "<a>one<b/>two<c>three</c>four</a>"
        let element = try Element.parse(text)
        #expect(element.xml() == text)
        #expect(element.text == "onetwofour")
        let built = Element("a", text: "one")
        built.add(Element("b"))
        built.add(text: "t")
        built.add(text: "wo")
        built.add(Element("c", text: "three"))
        built.add(text: "four")
        #expect(built == element)
        #expect(built.copy().xml() == text)
    }

    @Test("removing joins the text around; the removed element keeps its namespace")
    func removing() throws {
        let element = try Element.parse("<a xmlns='u'>one<b>x</b>two<c/></a>")
        let b = try #require(element.child("b"))
        element.remove(b)
        #expect(element.xml() == "<a xmlns='u'>onetwo<c/></a>")
        #expect(element == (try Element.parse(element.xml())))
        #expect(b.xml() == "<b xmlns='u'>x</b>")
        #expect(b.parent == nil)
        element.child("c")?.remove()
        element.setText("new")
        #expect(element.xml() == "<a xmlns='u'>new</a>")
        element.add(Element("d"))
        element.setText("")
        #expect(element.xml() == "<a xmlns='u'><d/></a>")
    }

    @Test("attributes: set, replaced, removed; xml:lang and {namespace}name; xmlns")
    func attributes() {
        let element = Element("a")
        element["b"] = "1"
        let child = element.add(Element("c", attributes: ["d": "1"]))
        element["b"] = "2"
        element["xml:lang"] = "de"
        element["{urn:x}y"] = "3"
        #expect(element["b"] == "2")
        #expect(element["y"] == nil)
        #expect(element["{urn:x}y"] == "3")
        #expect(child["d"] == "1")
        #expect(element.xml() == "<a b='2' xml:lang='de' xmlns:ns1='urn:x' ns1:y='3'><c d='1'/></a>")
        element["b"] = nil
        element["xmlns"] = "u"
        #expect(element.attributes == ["xml:lang": "de", "{urn:x}y": "3", "xmlns": "u"])
        #expect(child.namespace == "u")
    }

    @Test("namespaces are written only at changes")
    func namespaces() throws {
        let element = try Element.parse(
            "<a xmlns='u'><b xmlns='u'/><p:c xmlns:p='v'><p:d/><e/></p:c><f xmlns=''><g xmlns='u'/></f></a>")
        let canonical =
            "<a xmlns='u'><b/><c xmlns='v'><d/><e xmlns='u'/></c><f xmlns=''><g xmlns='u'/></f></a>"
        #expect(element.xml() == canonical)
        #expect(try Element.parse(canonical) == element)
        #expect(element.xml(in: "u") == canonical.replacing("<a xmlns='u'>", with: "<a>"))
        #expect(Element("a").xml(in: "u") == "<a/>")
        #expect(try Element.parse("<a/>").xml(in: "u") == "<a xmlns=''/>")
        #expect(element.child("c", "v")?.xml() == "<c xmlns='v'><d/><e xmlns='u'/></c>")
    }

    @Test("output is canonical: attributes in one order, and reading gives an equal tree")
    func canonical() throws {
        let one = Element("a", attributes: ["z": "1", "b": "2", "m": "3"])
        let two = Element("a")
        for (key, value) in [("m", "3"), ("b", "2"), ("z", "1")] { two[key] = value }
        #expect(one == two)
        #expect(one.xml() == "<a b='2' m='3' z='1'/>")
        #expect(two.xml() == one.xml())
        let hard = Element("a", attributes: ["x": "<&>'\"\t\n\r]]>"], text: "<&>'\"\t\n\r]]>\u{0}\u{FFFE}")
        let read = try Element.parse(hard.xml())
        #expect(read == hard)
        #expect(read["x"] == "<&>'\"\t\n\r]]>")
        #expect(read.text == "<&>'\"\t\n\r]]>\u{FFFD}\u{FFFD}")
    }

    @Test("names forbidden in XML are made into names")
    func names() throws {
        for name in ["", "a b", "<x>", "1", "-", "a:b", "é"] {
            let element = Element(name, attributes: [name + "x": "1"])
            #expect(try Element.parse(element.xml()) == element, "\(name)")
        }
    }

    @Test("child and children: by name, in the parent's namespace or another")
    func children() throws {
        let element = try Element.parse("<a xmlns='u'>\n<b n='1'/><b xmlns='v' n='2'/><b n='3'/></a>")
        #expect(element.child("b")?["n"] == "1")
        #expect(element.child("b", "v")?["n"] == "2")
        #expect(element.child("b", "w") == nil)
        #expect(element.children("b").map { $0["n"] } == ["1", "3"])
        #expect(element.children.count == 3)
        #expect(element.isNamed("a", "u"))
        #expect(!element.isNamed("a", "v"))
        #expect(!element.isNamed("b", "u"))
        #expect(try Element.parse("<a><b/></a>").child("b")?.name == "b")
    }

    @Test("equality is content")
    func equality() throws {
        let element = try Element.parse("<a xmlns='u' b='1'>t<c/></a>")
        #expect(element == (try Element.parse("<p:a xmlns:p='u' b='1'>t<p:c/></p:a>")))
        for other in [
            "<a xmlns='v' b='1'>t<c/></a>", "<a xmlns='u' b='2'>t<c/></a>", "<a xmlns='u'>t<c/></a>",
            "<a xmlns='u' b='1'>u<c/></a>", "<a xmlns='u' b='1'>t<d/></a>", "<a xmlns='u' b='1'>t</a>",
            "<a xmlns='u' b='1'>t<c/><c/></a>", "<a xmlns='u' b='1'>t<c><c/></c></a>", "<a xmlns='u' b='1'><c/>t</a>",
        ] {
            #expect(element != (try Element.parse(other)), "\(other)")
        }
    }

    @Test("many children are added in linear time")
    func manyChildren() {
        let root = Element("r")
        for number in 0..<20_000 { root.add(Element("c", attributes: ["n": "\(number)"])) }
        #expect(root.children.count == 20_000)
        #expect(root.children.last?["n"] == "19999")
    }

    @Test("a deep tree is copied, compared and written without recursion")
    func deep() {
        let element = Element("a")
        var innermost = element
        for _ in 0..<20_000 { innermost = innermost.add(Element("a")) }
        let copy = element.copy()
        #expect(copy == element)
        #expect(copy.bytes().count == 20_000 * 7 + 4)
    }
}
