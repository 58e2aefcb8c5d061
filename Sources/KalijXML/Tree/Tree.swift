/// A node: an element, or a piece of text after a child (text before the first child belongs to the element).
struct Node: BitwiseCopyable {
    var name: NameReference
    var namespace: NameReference
    var parent: UInt32
    /// The next sibling, 0 if there is none (node 0 is always the root, which has no siblings).
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
    /// `.inherited` if there is none; an attribute does not inherit.
    var namespace: NameReference
    var value: UInt32
    var length: UInt32
}

/// Where the parts of a tree are, and how much of each there is.
///
/// Records refer to each other in 32 bits. Parsed trees are bounded far below by the limits on a stanza; a program with
/// 2 GiB in one tree ends with a trap (the conversions to UInt32 are checked).
struct TreeHeader {
    var view: TreeView
    var nodeCount = 0
    var nodeCapacity: Int
    var attributeCount = 0
    var attributeCapacity: Int
    var valueCount = 0
    var valueCapacity: Int
    var textCount = 0
    var textCapacity: Int
    /// For the header of a stream: the namespace of stanzas without a namespace.
    var contentNamespace: NameReference?
    /// The place of the last added child, so that adding many children to one element needs no search.
    var lastAdded: (parent: UInt32, child: UInt32) = (0, 0)
    /// The regions moved out of the tree's own block.
    var moved: Moved = []
    /// Which children an element may have.
    var sketch = ChildSketch()

    struct Moved: OptionSet {
        var rawValue: UInt8
        static let nodes = Moved(rawValue: 1)
        static let attributes = Moved(rawValue: 2)
        static let values = Moved(rawValue: 4)
        static let texts = Moved(rawValue: 8)
    }
}

/// The nodes of a tree: records that refer to each other by index, and the bytes of names and texts.
///
/// A tree is one allocation, object and records together; the first edit beyond the room moves a region out of the
/// block.
final class Tree: ManagedBuffer<TreeHeader, UInt64> {
    /// A tree with room for so many of each, and no node yet.
    static func make(nodes nodeRoom: Int, attributes attributeRoom: Int, values valueRoom: Int, texts textRoom: Int)
        -> Tree
    {
        let nodeBytes = nodeRoom * MemoryLayout<Node>.stride
        let attributeBytes = attributeRoom * MemoryLayout<Attribute>.stride
        let size = nodeBytes + attributeBytes + valueRoom + textRoom
        let buffer = Tree.create(minimumCapacity: (size + 7) / 8) { buffer in
            // lives: as long as the buffer; only these pointers use the buffer's elements
            let block = buffer.withUnsafeMutablePointerToElements { UnsafeMutableRawPointer($0) }
            let view = TreeView(
                nodes: block.bindMemory(to: Node.self, capacity: nodeRoom),
                attributes: (block + nodeBytes).bindMemory(to: Attribute.self, capacity: attributeRoom),
                values: (block + nodeBytes + attributeBytes).bindMemory(to: UInt8.self, capacity: valueRoom),
                texts: (block + nodeBytes + attributeBytes + valueRoom).bindMemory(to: UInt8.self, capacity: textRoom),
                globals: NameTable.shared.entries)
            return TreeHeader(
                view: view, nodeCapacity: nodeRoom, attributeCapacity: attributeRoom, valueCapacity: valueRoom,
                textCapacity: textRoom)
        }
        // `create` makes an object of the receiving class.
        return unsafeDowncast(buffer, to: Tree.self)  // traps: never, `Tree` is the class of the buffer
    }

    deinit {
        let moved = withUnsafeMutablePointerToHeader { $0.pointee.moved }
        if moved.isEmpty { return }
        if moved.contains(.nodes) { nodes.deallocate() }
        if moved.contains(.attributes) { attributes.deallocate() }
        if moved.contains(.values) { values.deallocate() }
        if moved.contains(.texts) { texts.deallocate() }
    }

    /// Where everything is.
    // Through the pointer, because a check for exclusive access would cost as much as a query. Nothing changes the view
    // during a read: a tree has one owner at a time, and code that changes the tree calls nobody.
    var view: TreeView { withUnsafeMutablePointerToHeader { $0.pointee.view } }
    var nodes: UnsafeMutablePointer<Node> { withUnsafeMutablePointerToHeader { $0.pointee.view.nodes } }
    var attributes: UnsafeMutablePointer<Attribute> { view.attributes }
    var values: UnsafeMutablePointer<UInt8> { view.values }
    var texts: UnsafeMutablePointer<UInt8> { view.texts }
    var nodeCount: Int { withUnsafeMutablePointerToHeader { $0.pointee.nodeCount } }
    var attributeCount: Int { withUnsafeMutablePointerToHeader { $0.pointee.attributeCount } }
    var textCount: Int { withUnsafeMutablePointerToHeader { $0.pointee.textCount } }
    var contentNamespace: NameReference? {
        get { header.contentNamespace }
        set { header.contentNamespace = newValue }
    }
    var lastAdded: (parent: UInt32, child: UInt32) {
        get { withUnsafeMutablePointerToHeader { $0.pointee.lastAdded } }
        set { withUnsafeMutablePointerToHeader { $0.pointee.lastAdded = newValue } }
    }
}

// MARK: - Growing

/// Moves a region to a place with room; `isMoved` indicates whether the region has left the tree's own block before.
private func grow<Value: BitwiseCopyable>(
    _ pointer: inout UnsafeMutablePointer<Value>, _ capacity: inout Int, used: Int, needed: Int, isMoved: Bool
) {
    let wanted = max(needed, capacity * 2, 8)
    let moved = UnsafeMutablePointer<Value>.allocate(capacity: wanted)
    moved.update(from: pointer, count: used)
    if isMoved { pointer.deallocate() }
    pointer = moved
    capacity = wanted
}

extension TreeHeader {
    mutating func append(_ node: Node) -> UInt32 {
        sketch = ChildSketch()
        if nodeCount == nodeCapacity {
            let isMoved = !moved.insert(.nodes).inserted
            grow(&view.nodes, &nodeCapacity, used: nodeCount, needed: nodeCount + 1, isMoved: isMoved)
        }
        view.nodes[nodeCount] = node
        nodeCount += 1
        // traps: beyond 4 billion nodes of a program's own; the limits of a parser are below
        return UInt32(nodeCount - 1)
    }

    mutating func append(_ attribute: Attribute) -> UInt32 {
        if attributeCount == attributeCapacity {
            let isMoved = !moved.insert(.attributes).inserted
            grow(
                &view.attributes, &attributeCapacity, used: attributeCount, needed: attributeCount + 1,
                isMoved: isMoved)
        }
        view.attributes[attributeCount] = attribute
        attributeCount += 1
        // traps: beyond 4 billion attributes of a program's own; the limits of a parser are below
        return UInt32(attributeCount - 1)
    }

    mutating func appendValue(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
        if bytes.count > valueCapacity - valueCount {
            let isMoved = !moved.insert(.values).inserted
            grow(&view.values, &valueCapacity, used: valueCount, needed: valueCount + bytes.count, isMoved: isMoved)
        }
        if let start = bytes.baseAddress {
            UnsafeMutableRawPointer(view.values + valueCount).copyMemory(from: start, byteCount: bytes.count)
        }
        valueCount += bytes.count
        // traps: beyond 4 GiB of a program's own values; the limits of a parser are below
        return UInt32(valueCount - bytes.count)
    }

    mutating func appendText(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
        if bytes.count > textCapacity - textCount {
            let isMoved = !moved.insert(.texts).inserted
            grow(&view.texts, &textCapacity, used: textCount, needed: textCount + bytes.count, isMoved: isMoved)
        }
        if let start = bytes.baseAddress {
            UnsafeMutableRawPointer(view.texts + textCount).copyMemory(from: start, byteCount: bytes.count)
        }
        textCount += bytes.count
        // traps: beyond 4 GiB of a program's own text; the limits of a parser are below
        return UInt32(textCount - bytes.count)
    }
}

extension Tree {
    func append(_ node: Node) -> UInt32 { withUnsafeMutablePointerToHeader { $0.pointee.append(node) } }
    func append(_ attribute: Attribute) -> UInt32 { withUnsafeMutablePointerToHeader { $0.pointee.append(attribute) } }
    func appendValue(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
        withUnsafeMutablePointerToHeader { $0.pointee.appendValue(bytes) }
    }
    func appendText(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
        withUnsafeMutablePointerToHeader { $0.pointee.appendText(bytes) }
    }
}

// MARK: - Parsing

extension Tree {
    /// Takes over the records of a parser, into a tree of just that size.
    func fill(nodes: Region<Node>, attributes: Region<Attribute>, values: Region<UInt8>, texts: Region<UInt8>) {
        self.nodes.update(from: nodes.base, count: nodes.count)
        self.attributes.update(from: attributes.base, count: attributes.count)
        self.values.update(from: values.base, count: values.count)
        self.texts.update(from: texts.base, count: texts.count)
        withUnsafeMutablePointerToHeader {
            $0.pointee.nodeCount = nodes.count
            $0.pointee.attributeCount = attributes.count
            $0.pointee.valueCount = values.count
            $0.pointee.textCount = texts.count
        }
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

    /// A reference for a program's name, stored if there is no id.
    func store(_ name: UnsafeRawBufferPointer) -> NameReference {
        if let known = NameTable.shared.lookUp(name) { return known }
        var length = UInt32(name.count)  // traps: on a program's own name of 4 GiB
        let offset = withUnsafeBytes(of: &length) { appendValue($0) }
        _ = appendValue(name)
        return NameReference(offset: Int(offset))
    }

    func store(_ name: String) -> NameReference {
        var name = name
        return name.withUTF8 { store(UnsafeRawBufferPointer($0)) }
    }
}
