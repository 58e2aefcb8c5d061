/// An element that is being made: of plain names, and each attribute once. What is added is made in place, in memory of the right size.
package struct NewElement {
    package let element: Element
    private var tree: Tree { element.tree }

    /// - Parameter room: how many children will be added.
    package init(_ name: String, in xmlns: String, _ attributes: KeyValuePairs<String, String>, room: Int = 0) {
        let values = attributes.reduce(64 * (room + 1)) { $0 + $1.value.utf8.count }
        let tree = Tree.make(nodes: 1 + room, attributes: attributes.count + room, values: values, texts: 0)
        element = Element(tree: tree, index: 0)
        _ = tree.append(Node(name: tree.store(name), namespace: tree.store(xmlns), parent: 0))
        Self.set(attributes, of: element)
    }

    /// Adds a child behind all others.
    package func add(_ name: String, in xmlns: String, _ attributes: KeyValuePairs<String, String> = [:]) {
        let child = tree.append(Node(name: tree.store(name), namespace: tree.store(xmlns), parent: element.index))
        tree.link(child, lastIn: element.index)
        Self.set(attributes, of: Element(tree: tree, index: child))
    }

    private static func set(_ attributes: KeyValuePairs<String, String>, of element: Element) {
        for (name, value) in attributes { add(name, value, to: element) }
    }

    /// Whether the name is written as it is set, and is no declaration.
    static func isPlain(_ attribute: String) -> Bool { isPlainName(attribute) && attribute != "xmlns" }

    /// Adds a plain attribute to an element that has none of this name.
    static func add(_ attribute: String, _ value: String, to element: Element) {
        append(element.tree.store(attribute), .inherited, validCharacters(value), to: element)
    }

    /// Adds an attribute behind the others of an element.
    static func append(_ name: NameReference, _ namespace: NameReference, _ value: String, to element: Element) {
        let tree = element.tree
        let start = withBytes(of: value) { tree.appendValue($0) }
        let length = UInt32(value.utf8.count)  // traps: on a program's own value of 4 GiB
        let new = Attribute(name: name, namespace: namespace, value: start, length: length)
        let places = element.attributePlaces
        if places.upperBound != tree.attributeCount || places.isEmpty {
            // The attributes of an element stand side by side: move them to a place with room for one more.
            // fits: an attribute has 16 bytes, and there is no memory for so many
            tree.nodes[Int(element.index)].attributes = UInt32(tree.attributeCount)
            for place in places { _ = tree.append(tree.attributes[place]) }
        }
        _ = tree.append(new)
        tree.nodes[Int(element.index)].attributeCount += 1
    }
}
