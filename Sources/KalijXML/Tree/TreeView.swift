/// The memory of a tree, read without counting references; good while the tree lives and is not edited.
struct TreeView: BitwiseCopyable {
    var nodes: UnsafeMutablePointer<Node>
    var attributes: UnsafeMutablePointer<Attribute>
    var values: UnsafeMutablePointer<UInt8>
    var texts: UnsafeMutablePointer<UInt8>
    let globals: UnsafePointer<NameTable.Entry>
}

// MARK: - Names

extension TreeView {
    /// The bytes of a name; good until the tree is edited.
    @inline(__always)
    func bytes(_ name: NameReference) -> UnsafeRawBufferPointer {
        if name.isGlobal { return globals[Int(name.globalIndex)].bytes }
        if name.isAbsent || name == .text { return UnsafeRawBufferPointer(start: nil, count: 0) }
        let start = UnsafeRawPointer(values + name.offset)
        return UnsafeRawBufferPointer(start: start + 4, count: Int(start.loadUnaligned(as: UInt32.self)))
    }

    func string(_ name: NameReference) -> String { String(decoding: bytes(name), as: UTF8.self) }

    /// Whether a stored name is `bytes`.
    @inline(__always)
    func isName(_ name: NameReference, _ bytes: UnsafeRawBufferPointer) -> Bool {
        !name.isAbsent && sameBytes(self.bytes(name), bytes)
    }

    /// Whether the namespace of an element is `bytes`; nil is none.
    @inline(__always)
    func isNamespace(_ index: UInt32, _ bytes: UnsafeRawBufferPointer?) -> Bool {
        let own = namespace(index)
        guard let bytes else { return own.isAbsent }
        return isName(own, bytes)
    }

    /// Lends the bytes of `xmlns`; if nil, those of the element's namespace, nil if it has none.
    @inline(__always)
    func withNamespace<Result>(
        _ xmlns: String?, of index: UInt32, _ body: (UnsafeRawBufferPointer?) -> Result
    ) -> Result {
        if let xmlns { return withBytes(of: xmlns, body) }
        let own = namespace(index)
        return body(own.isAbsent ? nil : bytes(own))
    }

    /// The first child element that `isWanted`, which gets the view, the child's node and index: a search among children makes no
    /// elements, and counts no references.
    @inline(__always)
    func child(of index: UInt32, where isWanted: (TreeView, Node, UInt32) -> Bool) -> UInt32? {
        var child = nodes[Int(index)].first
        while child != 0 {
            let node = nodes[Int(child)]
            if !node.isText, isWanted(self, node, child) { return child }
            child = node.next
        }
        return nil
    }

    /// The namespace of an element, its own or its nearest ancestor's.
    @inline(__always)
    func namespace(_ index: UInt32) -> NameReference {
        var index = index
        while true {
            let own = nodes[Int(index)].namespace
            if own != .inherited || index == 0 { return own }
            let parent = nodes[Int(index)].parent
            if parent == index { return own }
            index = parent
        }
    }
}

// MARK: - Content

extension TreeView {
    func value(_ attribute: Attribute) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: values + Int(attribute.value), count: Int(attribute.length))
    }

    func ownText(_ node: Node) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: texts + Int(node.text), count: Int(node.textLength))
    }

    /// Whether text stands after a child of the element: the element's text is in pieces.
    func isMixed(_ index: UInt32) -> Bool {
        var child = nodes[Int(index)].first
        while child != 0 {
            if nodes[Int(child)].isText { return true }
            child = nodes[Int(child)].next
        }
        return false
    }

    /// Lends an element's whole own text.
    func withText<Result>(_ index: UInt32, _ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        let node = nodes[Int(index)]
        guard node.first != 0, isMixed(index) else { return try body(ownText(node)) }
        var whole = [UInt8](ownText(node))
        var child = node.first
        while child != 0 {
            let piece = nodes[Int(child)]
            if piece.isText { whole.append(contentsOf: ownText(piece)) }
            child = piece.next
        }
        return try whole.withUnsafeBytes(body)
    }

    /// The first element among `index` and its later siblings, 0 if there is none.
    @inline(__always)
    func element(from index: UInt32) -> UInt32 {
        var index = index
        while index != 0, nodes[Int(index)].isText { index = nodes[Int(index)].next }
        return index
    }

    /// The attribute's place, or nil. With a nil `namespace`, the attribute has none.
    func findAttribute(
        _ index: UInt32, _ name: UnsafeRawBufferPointer, _ namespace: UnsafeRawBufferPointer?
    ) -> Int? {
        let node = nodes[Int(index)]
        for place in Int(node.attributes)..<(Int(node.attributes) + Int(node.attributeCount)) {
            let attribute = attributes[place]
            guard isName(attribute.name, name) else { continue }
            if let namespace {
                if isName(attribute.namespace, namespace) { return place }
            } else if attribute.namespace.isAbsent {
                return place
            }
        }
        return nil
    }

    /// A detached node is its own parent; the root is node 0.
    func isRoot(_ index: UInt32) -> Bool { index == 0 || nodes[Int(index)].parent == index }
}
