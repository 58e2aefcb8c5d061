import Testing

@testable import KalijXML

/// Searches among children end early for most names; what is there is found, whatever was changed meanwhile.
@Suite struct ChildSketchTests {
    private static let names = [
        "body", "x", "event", "received", "active", "a", "b", "encrypted", "origin-id", "stanza-id",
    ]
    private static let spaces = [
        "jabber:client", "urn:xmpp:sid:0", "urn:xmpp:receipts", "u", "v", "http://jabber.org/protocol/chatstates",
    ]

    @Test("the same is found as by looking at each child", arguments: 0..<50)
    func sameAsEach(seed: Int) throws {
        var random = SystemRandomNumberGenerator()
        let root = Element("message", xmlns: "jabber:client")
        for round in 0..<40 {
            switch Int.random(in: 0..<8, using: &random) {
            case 0..<3:
                root.add(
                    Element(
                        try #require(Self.names.randomElement(using: &random)),
                        xmlns: Bool.random(using: &random) ? Self.spaces.randomElement(using: &random) : nil))
            case 3: root.add(Element("store", xmlns: "urn:xmpp:hints"))
            case 4: root.children.randomElement(using: &random)?.remove()
            case 5: root.children.randomElement(using: &random)?["xmlns"] = Self.spaces.randomElement(using: &random)
            case 6: root["xmlns"] = Self.spaces.randomElement(using: &random)
            default: root.add(text: "\(round)")
            }
            for _ in 0..<3 { expectSame(root) }
        }
    }

    private func expectSame(_ root: Element) {
        let children = root.children
        for space in Self.spaces + ["urn:xmpp:hints"] {
            let here = children.filter { $0.isIn(space) }
            #expect(root.child(in: space).map(\.index) == here.first?.index)
            #expect(root.children(nil, space).map(\.index) == here.map(\.index))
            for name in Self.names + ["store"] {
                let named = here.filter { $0.name == name }
                #expect(root.child(name, space).map(\.index) == named.first?.index)
                #expect(root.children(name, space).map(\.index) == named.map(\.index))
            }
        }
    }

    @Test("an element made in place is the element made of parts")
    func inPlace() throws {
        let one = NewElement("message", in: "jabber:client", ["type": "chat", "to": "a@b", "id": "<'1'>"], room: 1)
        one.add("origin-id", in: "urn:xmpp:sid:0", ["id": "1"])
        one.add("store", in: "urn:xmpp:hints")
        let other = Element(
            "message", xmlns: "jabber:client", attributes: ["type": "chat", "to": "a@b", "id": "<'1'>"],
            children: [
                Element("origin-id", xmlns: "urn:xmpp:sid:0", attributes: ["id": "1"]),
                Element("store", xmlns: "urn:xmpp:hints"),
            ])
        #expect(one.element.xml() == other.xml() && one.element == other)
        #expect(try Element.parse(one.element.xml()) == other)
    }

    @Test("attributes are written in order, however many there are", arguments: 0..<9)
    func order(count: Int) throws {
        let names = (0..<count).map { "n\($0)" }
        for _ in 0..<5 {
            let element = Element("a")
            for name in names.shuffled() { element[name] = name }
            #expect(element.xml() == "<a" + names.map { " \($0)='\($0)'" }.joined() + "/>")
        }
    }
}
