/// An element of an XML tree: a name, a namespace, attributes, text and child elements.
///
/// An element is a *reference* to a node of a tree: changing the element changes the tree, and ``copy()`` decouples.
/// Elements from a parser or a query are such references; do not use a tree from two threads at once.
///
/// ```swift
/// let reply = Element("message", xmlns: "jabber:client", attributes: ["to": jid])
/// reply.add(Element("body", text: "Here I am"))
/// reply["id"] = "m1"
/// print(reply.xml())
/// ```
///
/// Equality compares content: names, namespaces, attributes (in any order) and everything inside, in order.
public struct Element: CustomStringConvertible {
    let tree: Tree
    let index: UInt32

    init(tree: Tree, index: UInt32) {
        self.tree = tree
        self.index = index
    }

    var node: Node { tree.nodes[Int(index)] }

    /// Makes a new tree with this element and copies of `children`.
    ///
    /// - Parameters:
    ///   - name: The local name, without a prefix.
    ///   - xmlns: The namespace. Without a namespace, the element takes the parent's as soon as there is a parent.
    ///   - attributes: By name, as in ``subscript(_:)``.
    ///   - children: Copied in, in this order, after the text.
    ///   - text: The element's text.
    public init(
        _ name: String, xmlns: String? = nil, attributes: [String: String] = [:], children: [Element] = [],
        text: String? = nil
    ) {
        var (nodes, inner, values, texts) = (1, attributes.count, 64 + attributes.count * 32, text?.utf8.count ?? 0)
        for child in children {
            nodes += child.tree.nodeCount
            inner += child.tree.attributeCount
            values += 32 + child.tree.attributeCount * 32
            texts += child.tree.textCount
        }
        tree = Tree.make(nodes: nodes, attributes: inner, values: values, texts: texts)
        index = 0
        _ = tree.append(Node(name: tree.store(validName: name), namespace: .inherited, parent: 0))
        if let xmlns { setNamespace(xmlns) }
        if attributes.count == 1, let (key, value) = attributes.first {
            self[key] = value
        } else if attributes.keys.allSatisfy(NewElement.isPlain) {
            for (key, value) in attributes.sorted(by: { $0.key < $1.key }) { NewElement.add(key, value, to: self) }
        } else {
            for (key, value) in attributes.sorted(by: { $0.key < $1.key }) { self[key] = value }
        }
        if let text { add(text: text) }
        for child in children { add(child) }
    }

    /// The local name.
    public var name: String { tree.string(node.name) }

    /// The namespace in effect: the element's own, else the namespace of the nearest ancestor with a namespace of its
    /// own.
    public var namespace: String? {
        let reference = tree.namespace(index)
        return reference.isAbsent ? nil : tree.string(reference)
    }

    /// Whether the element has this name and namespace. Compares bytes and allocates nothing.
    public func isNamed(_ name: String, _ xmlns: String) -> Bool {
        isNamed(name) && isIn(xmlns)
    }

    /// Whether the element has this name, in any namespace.
    public func isNamed(_ name: String) -> Bool {
        withBytes(of: name) { tree.isName(node.name, $0) }
    }

    /// The element's own text, without the text of the children; "" if there is none.
    public var text: String { tree.withText(index) { String(decoding: $0, as: UTF8.self) } }

    /// Lends the bytes of the element's own text, without a copy unless children stand between pieces of the text.
    ///
    /// - Parameter body: Gets the bytes, UTF-8, good during the call; must not change the tree.
    /// - Returns: The result of `body`.
    public func withText<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try tree.withText(index, body)
    }

    /// The child elements, in order.
    public var children: [Element] {
        var result: [Element] = []
        var child = tree.element(from: node.first)
        while child != 0 {
            result.append(Element(tree: tree, index: child))
            child = tree.element(from: tree.nodes[Int(child)].next)
        }
        return result
    }

    /// The parent element; nil for the root of a tree.
    public var parent: Element? {
        tree.isRoot(index) ? nil : Element(tree: tree, index: node.parent)
    }

    /// The first child element of this name; a nil namespace means the namespace of this element.
    public func child(_ name: String, _ xmlns: String? = nil) -> Element? {
        let found: UInt32? = withBytes(of: name) { name in
            guard ChildSketch.mayFind(name, below: index, of: tree) else { return nil }
            return tree.view.withNamespace(xmlns, of: index) { namespace in
                tree.view.child(of: index) { $0.isName($1.name, name) && $0.isNamespace($2, namespace) }
            }
        }
        return found.map { Element(tree: tree, index: $0) }
    }

    /// The first child element in the namespace `xmlns`, of any name.
    public func child(in xmlns: String) -> Element? {
        let found: UInt32? = withBytes(of: xmlns) { namespace in
            guard ChildSketch.mayFind(namespace: namespace, below: index, of: tree) else { return nil }
            return tree.view.child(of: index) { $0.isNamespace($2, namespace) }
        }
        return found.map { Element(tree: tree, index: $0) }
    }

    /// The child elements of this name, in order; nil means any name. A nil namespace means the namespace of this element.
    public func children(_ name: String?, _ xmlns: String? = nil) -> [Element] {
        var result: [Element] = []
        let isAny = name == nil
        withBytes(of: name ?? "") { name in
            guard isAny || ChildSketch.mayFind(name, below: index, of: tree) else { return }
            tree.view.withNamespace(xmlns, of: index) { namespace in
                _ = tree.view.child(of: index) {
                    if isAny || $0.isName($1.name, name), $0.isNamespace($2, namespace) {
                        result.append(Element(tree: tree, index: $2))
                    }
                    return false
                }
            }
        }
        return result
    }

    /// Whether the element is in the namespace `xmlns`.
    public func isIn(_ xmlns: String) -> Bool { withBytes(of: xmlns) { tree.isName(tree.namespace(index), $0) } }

    /// For the header of a stream, the namespace of stanzas without a namespace; for any other element, the element's
    /// own namespace.
    public var defaultNamespace: String? {
        guard index == 0, let content = tree.contentNamespace else { return namespace }
        return content.isAbsent ? nil : tree.string(content)
    }

    /// The canonical XML.
    public var description: String { xml() }

    /// Whether both refer to the same node of the same tree.
    public func isSame(as other: Element) -> Bool { tree === other.tree && index == other.index }
}

/// Lends the UTF-8 bytes of a string.
@inline(__always)
func withBytes<Result>(of string: String, _ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
    if let result = try string.utf8.withContiguousStorageIfAvailable({ try body(UnsafeRawBufferPointer($0)) }) {
        return result
    }
    var copy = string
    return try copy.withUTF8 { try body(UnsafeRawBufferPointer($0)) }
}
