/// One node: an element, or a piece of text that stands after a child (text before the first child is the element's).
struct Node: BitwiseCopyable {
    var name: NameReference
    var namespace: NameReference
    var parent: UInt32
    /// The next sibling, 0 if there is none (node 0 is always the root, which is nobody's sibling).
    var next: UInt32 = 0
    var first: UInt32 = 0
    /// The element's text before its first child, or the piece of text.
    var text: UInt32 = 0
    var textLength: UInt32 = 0
    var attributes: UInt32 = 0
    var attributeCount: UInt32 = 0

    var isText: Bool { name == .text }
}

struct Attribute: BitwiseCopyable {
    var name: NameReference
    /// `.inherited` if it has none; an attribute does not inherit.
    var namespace: NameReference
    var value: UInt32
    var length: UInt32
}

/// What the nodes of a tree are kept in: records that refer to each other by index, and the bytes they refer to.
///
/// A parsed tree is one block of memory; the first edit that needs room moves a region out of it.
final class Tree {
    /// Where everything is.
    // One owner at a time uses a tree, and no access to this runs any other code: a check of each would cost as much
    // as a query.
    @exclusivity(unchecked) private(set) var view: TreeView
    var nodeCount: Int
    private var nodeCapacity: Int
    var attributeCount: Int
    private var attributeCapacity: Int
    var valueCount: Int
    private var valueCapacity: Int
    var textCount: Int
    private var textCapacity: Int
    private let block: UnsafeMutableRawPointer
    private let blockEnd: UnsafeMutableRawPointer
    /// Of the header of a stream: the namespace that its stanzas have if they name none.
    var contentNamespace: NameReference?
    /// Where the last child was added, so that adding many children to one element needs no search.
    var lastAdded: (parent: UInt32, child: UInt32) = (0, 0)

    /// A tree with room for so many of each, and no node yet.
    init(nodes nodeRoom: Int, attributes attributeRoom: Int, values valueRoom: Int, texts textRoom: Int) {
        let nodeBytes = nodeRoom * MemoryLayout<Node>.stride
        let attributeBytes = attributeRoom * MemoryLayout<Attribute>.stride
        let size = nodeBytes + attributeBytes + valueRoom + textRoom
        // A few bytes more, so that no other allocation begins where the last region ends.
        block = UnsafeMutableRawPointer.allocate(byteCount: size + 8, alignment: 8)
        blockEnd = block + size
        view = TreeView(
            nodes: block.bindMemory(to: Node.self, capacity: nodeRoom),
            attributes: (block + nodeBytes).bindMemory(to: Attribute.self, capacity: attributeRoom),
            values: (block + nodeBytes + attributeBytes).bindMemory(to: UInt8.self, capacity: valueRoom),
            texts: (block + nodeBytes + attributeBytes + valueRoom).bindMemory(to: UInt8.self, capacity: textRoom),
            globals: NameTable.shared.entries)
        (nodeCount, attributeCount, valueCount, textCount) = (0, 0, 0, 0)
        (nodeCapacity, attributeCapacity, valueCapacity, textCapacity) = (nodeRoom, attributeRoom, valueRoom, textRoom)
    }

    deinit {
        if isOutsideBlock(nodes) { nodes.deallocate() }
        if isOutsideBlock(attributes) { attributes.deallocate() }
        if isOutsideBlock(values) { values.deallocate() }
        if isOutsideBlock(texts) { texts.deallocate() }
        block.deallocate()
    }

    var nodes: UnsafeMutablePointer<Node> { view.nodes }
    var attributes: UnsafeMutablePointer<Attribute> { view.attributes }
    var values: UnsafeMutablePointer<UInt8> { view.values }
    var texts: UnsafeMutablePointer<UInt8> { view.texts }

    private func isOutsideBlock<Value>(_ pointer: UnsafeMutablePointer<Value>) -> Bool {
        let raw = UnsafeMutableRawPointer(pointer)
        return raw < block || raw > blockEnd
    }

    private func grow<Value: BitwiseCopyable>(
        _ pointer: inout UnsafeMutablePointer<Value>, _ capacity: inout Int, used: Int, needed: Int
    ) {
        guard needed > capacity else { return }
        let wanted = max(needed, capacity * 2, 8)
        let moved = UnsafeMutablePointer<Value>.allocate(capacity: wanted)
        moved.update(from: pointer, count: used)
        if isOutsideBlock(pointer) { pointer.deallocate() }
        pointer = moved
        capacity = wanted
    }

    func append(_ node: Node) -> UInt32 {
        grow(&view.nodes, &nodeCapacity, used: nodeCount, needed: nodeCount + 1)
        nodes[nodeCount] = node
        nodeCount += 1
        return UInt32(nodeCount - 1)
    }

    func append(_ attribute: Attribute) -> UInt32 {
        grow(&view.attributes, &attributeCapacity, used: attributeCount, needed: attributeCount + 1)
        attributes[attributeCount] = attribute
        attributeCount += 1
        return UInt32(attributeCount - 1)
    }

    func appendValue(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
        grow(&view.values, &valueCapacity, used: valueCount, needed: valueCount + bytes.count)
        if let start = bytes.baseAddress {
            UnsafeMutableRawPointer(values + valueCount).copyMemory(from: start, byteCount: bytes.count)
        }
        valueCount += bytes.count
        return UInt32(valueCount - bytes.count)
    }

    func appendText(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
        grow(&view.texts, &textCapacity, used: textCount, needed: textCount + bytes.count)
        if let start = bytes.baseAddress {
            UnsafeMutableRawPointer(texts + textCount).copyMemory(from: start, byteCount: bytes.count)
        }
        textCount += bytes.count
        return UInt32(textCount - bytes.count)
    }
}

// MARK: - Parsing

extension Tree {
    /// Takes over what a parser gathered, into a tree that was made just large enough.
    func fill(nodes: Region<Node>, attributes: Region<Attribute>, values: Region<UInt8>, texts: Region<UInt8>) {
        self.nodes.update(from: nodes.base, count: nodes.count)
        self.attributes.update(from: attributes.base, count: attributes.count)
        self.values.update(from: values.base, count: values.count)
        self.texts.update(from: texts.base, count: texts.count)
        (nodeCount, attributeCount, valueCount, textCount) =
            (nodes.count, attributes.count, values.count, texts.count)
    }
}

// MARK: - Reading

extension Tree {
    func bytes(_ name: NameReference) -> UnsafeRawBufferPointer { view.bytes(name) }
    func string(_ name: NameReference) -> String { view.string(name) }
    func isName(_ name: NameReference, _ bytes: UnsafeRawBufferPointer) -> Bool { view.isName(name, bytes) }
    func namespace(_ index: UInt32) -> NameReference { view.namespace(index) }
    func value(_ attribute: Attribute) -> UnsafeRawBufferPointer { view.value(attribute) }
    func ownText(_ node: Node) -> UnsafeRawBufferPointer { view.ownText(node) }
    func element(from index: UInt32) -> UInt32 { view.element(from: index) }
    func isRoot(_ index: UInt32) -> Bool { view.isRoot(index) }

    func withText<Result>(_ index: UInt32, _ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try view.withText(index, body)
    }

    func findAttribute(
        _ index: UInt32, _ name: UnsafeRawBufferPointer, _ namespace: UnsafeRawBufferPointer?
    ) -> Int? {
        view.findAttribute(index, name, namespace)
    }

    /// A reference for a name that a program gives, stored if it has no id.
    func store(_ name: UnsafeRawBufferPointer) -> NameReference {
        if let known = NameTable.shared.lookUp(name) { return known }
        var length = UInt32(name.count)
        let offset = withUnsafeBytes(of: &length) { appendValue($0) }
        _ = appendValue(name)
        return NameReference(offset: Int(offset))
    }

    func store(_ name: String) -> NameReference {
        var name = name
        return name.withUTF8 { store(UnsafeRawBufferPointer($0)) }
    }
}
