import KalijXML
import TestSupport
import Testing

/// "Adding a child copies it in. Children and text keep their order (mixed content survives a round trip)"; "output is
/// canonical (same tree, same bytes), and reading it back gives an equal tree."
@Suite struct EditingTests {
    @Test("every documented way to create an element")
    func creating() {
        #expect(Element("a").xml() == "<a/>")
        #expect(Element("a", xmlns: "u").xml() == "<a xmlns='u'/>")
        #expect(Element("a", text: "t").xml() == "<a>t</a>")
        #expect(Element("a", xmlns: "u", text: "t").xml() == "<a xmlns='u'>t</a>")
        let children = [Element("b"), Element("c", xmlns: "v")]
        #expect(
            Element("a", attributes: ["x": "1"], children: children, text: "t").xml()
                == "<a x='1'>t<b/><c xmlns='v'/></a>")
        #expect(
            Element("a", xmlns: "u", attributes: ["x": "1"], children: children, text: "t").xml()
                == "<a xmlns='u' x='1'>t<b/><c xmlns='v'/></a>")
        // The example of the documents.
        let service = Element("service", attributes: ["type": "turn", "host": "h", "port": "1"])
        let credentials = Element("credentials", xmlns: "urn:xmpp:extdisco:2", children: [service])
        #expect(
            credentials.xml()
                == "<credentials xmlns='urn:xmpp:extdisco:2'><service host='h' port='1' type='turn'/></credentials>")
        #expect(credentials.children[0]["xmlns"] == "urn:xmpp:extdisco:2")
        #expect(service["xmlns"] == nil)
    }

    @Test("a namespace is inherited however deep, in whatever order the tree is put together")
    func inheritance() {
        // a(b(c(d))), its joints made in every order; only d, below, names its own namespace.
        let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]]
        for order in orders {
            // Parts are merged by adding the lower part to the innermost element of the upper part.
            var parts: [Int: Element] = [
                0: Element("a", xmlns: "u"), 1: Element("b"), 2: Element("c"), 3: Element("d"),
            ]
            var root = [0, 1, 2, 3]
            for joint in order {
                let upper = root[joint]
                let lower = root[joint + 1]
                guard let above = parts[upper], let below = parts[lower] else { continue }
                var innermost = above
                while let child = innermost.children.first { innermost = child }
                innermost.add(below)
                parts[lower] = nil
                root = root.map { $0 == lower ? upper : $0 }
            }
            #expect(parts[0]?.xml() == "<a xmlns='u'><b><c><d/></c></b></a>", "\(order)")
            #expect(parts[0]?.children[0].children[0].children[0].namespace == "u", "\(order)")
        }
    }

    @Test("a reference changes its tree, a copy does not")
    func references() throws {
        let element = try Element.parse("<a xmlns='u'>1<b x='1'><c/></b>2</a>")
        let reference = try #require(element.child("b"))
        let copy = reference.copy()
        reference["x"] = "2"
        reference.child("c")?.add(text: "t")
        #expect(element.xml() == "<a xmlns='u'>1<b x='2'><c>t</c></b>2</a>")
        #expect(copy.xml() == "<b xmlns='u' x='1'><c/></b>")
        #expect(copy.parent == nil)
        copy["x"] = "3"
        #expect(reference["x"] == "2")
        // A copy keeps its namespace, wherever it goes.
        #expect(Element("r", xmlns: "v", children: [copy]).xml() == "<r xmlns='v'><b xmlns='u' x='3'><c/></b></r>")
    }

    @Test("inserting at a place: the text around stays in place")
    func inserting() throws {
        let element = try Element.parse("<a xmlns='u'>one<b/>two<c/>three</a>")
        let b = try #require(element.child("b"))
        let c = try #require(element.child("c"))
        let inserted = element.insert(Element("x"), before: b)
        #expect(inserted.namespace == "u")
        #expect(element.xml() == "<a xmlns='u'>one<x/><b/>two<c/>three</a>")
        element.insert(Element("y"), before: c)
        #expect(element.xml() == "<a xmlns='u'>one<x/><b/>two<y/><c/>three</a>")
        element.insert(Element("z"), before: inserted)
        element.add(Element("last"))
        element.insert(Element("stranger"), before: Element("none"))
        let expected = "<a xmlns='u'>one<z/><x/><b/>two<y/><c/>three<last/><stranger/></a>"
        #expect(element.xml() == expected)
        #expect(try Element.parse(expected) == element)
        for name in ["z", "b", "y", "c", "x"] { element.child(name)?.remove() }
        #expect(element.xml() == "<a xmlns='u'>onetwothree<last/><stranger/></a>")
        #expect(try Element.parse(element.xml()) == element)
    }

    @Test(
        "random edits: written XML reads back equal and is written the same",
        arguments: 1...40 as ClosedRange<UInt64>)
    func randomEdits(seed: UInt64) throws {
        var random = Seeded(RandomInput.seed(seed))
        let root = Element("root", xmlns: ["u", nil].randomElement(using: &random) ?? nil)
        for step in 0..<150 {
            edit(root, &random)
            guard step % 10 == 9 else { continue }
            let written = root.xml()
            let read = try Element.parse(written)
            #expect(read == root, "seed \(seed), step \(step): \(written)")
            #expect(read.xml() == written, "seed \(seed), step \(step)")
            #expect(root.copy() == root && root.copy().xml() == written, "seed \(seed), step \(step)")
        }
    }

    private func edit(_ root: Element, _ random: inout Seeded) {
        var place = root
        while let child = place.children.randomElement(using: &random), Int.random(in: 0..<3, using: &random) > 0 {
            place = child
        }
        let text = ["", "t", " ", "<&>", "\r\n", "é漢😀", "]]>"].randomElement(using: &random) ?? ""
        let attribute = ["x", "y", "xml:lang", "{urn:a}x", "{urn:b}x"].randomElement(using: &random) ?? "x"
        switch Int.random(in: 0..<12, using: &random) {
        case 0, 1: place.add(Element("a", text: text))
        case 2: place.add(Element("b", xmlns: ["u", "v", ""].randomElement(using: &random), children: [Element("c")]))
        case 3: place.add(root.children.randomElement(using: &random)?.copy() ?? Element("d"))
        case 4, 5: place.add(text: text)
        case 6: place.setText(text)
        case 7: place[attribute] = text
        case 8: place[attribute] = nil
        case 9: if !place.isSame(as: root) { place.remove() }
        case 10:
            if let sibling = place.children.randomElement(using: &random) {
                place.insert(Element("e"), before: sibling)
            }
        default: place["xmlns"] = ["u", "w", nil].randomElement(using: &random) ?? nil
        }
    }
}
