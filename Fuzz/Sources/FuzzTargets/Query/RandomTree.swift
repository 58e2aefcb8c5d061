import KalijXML

/// A tree built by an input's bytes from few names, so that queries find something.
struct RandomTree {
    static let names = ["a", "b", "c", "iq", "item"]
    static let namespaces = ["n1", "n2", "jabber:client"]
    static let attributes = ["x", "y", "id", "xml:lang", "{n1}q", "{n2}x"]
    static let values = [
        "1", "x", "", "true", "-5", "+7", " 12\n", "1e3", "aGk=", "2024-01-02T03:04:05.5Z", "20240102",
        "f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "99999999999999999999", "de",
    ]

    let root: Element
    /// Where building ended: somewhere in the tree.
    private(set) var current: Element
    private(set) var count = 1

    /// Builds until the bytes are used up or `most` elements are there.
    init(_ source: inout ByteSource, most: Int = 60) {
        root = Element(source.pick(RandomTree.names))
        current = root
        while !source.isEmpty, count < most { step(&source) }
    }

    private mutating func step(_ source: inout ByteSource) {
        switch source.number(below: 12) {
        case 0, 1, 2:
            current = current.add(Element(source.pick(RandomTree.names)))
            count += 1
        case 3, 4:
            current.add(Element(source.pick(RandomTree.names), text: source.pick(RandomTree.values)))
            count += 1
        case 5: current = current.parent ?? current
        case 6: current.add(text: source.pick(RandomTree.values))
        case 7, 8: current[source.pick(RandomTree.attributes)] = source.pick(RandomTree.values)
        case 9: current["xmlns"] = source.pick(RandomTree.namespaces)
        case 10: current[source.pick(RandomTree.attributes)] = source.text()
        default: edit(&source)
        }
    }

    private mutating func edit(_ source: inout ByteSource) {
        switch source.number(below: 5) {
        case 0: current["xmlns"] = source.oneIn(2) ? nil : ""
        case 1: current.children.first?.remove()
        case 2: current[source.pick(RandomTree.attributes)] = nil
        case 3: current = current.children.last ?? current
        default:
            // A copy of the present tree, if not too large.
            guard count < 20 else { return }
            current.add(current)
            count *= 2
        }
    }

    /// Some element of the tree.
    func element(_ source: inout ByteSource) -> Element {
        switch source.number(below: 3) {
        case 0: return root
        case 1: return current
        default:
            var element = root
            while let child = element.children.last, !source.oneIn(3), !source.isEmpty { element = child }
            return element
        }
    }
}
