/// Gathers a top-level element in reused memory, and hands the tree out in one block.
struct TreeBuilder {
    private struct Frame: BitwiseCopyable {
        var node: UInt32
        var lastChild: UInt32
        var children: UInt32
    }

    var names = NameCache()
    private(set) var nodes = Region<Node>(capacity: 256)
    private(set) var attributes = Region<Attribute>(capacity: 256)
    private(set) var values = Region<UInt8>(capacity: 16_384)
    private(set) var texts = Region<UInt8>(capacity: 16_384)
    private var frames: UnsafeMutablePointer<Frame>
    private let maximumDepth: Int
    private var lastNamespace: UnsafePointer<UInt8>?
    private var lastReference = NameReference.none
    private var depth = 0
    private var elements = 0
    private var serial: UInt32 = 1
    private let limits: ParserLimits

    init(limits: ParserLimits) {
        self.limits = limits
        maximumDepth = limits.depth
        frames = .allocate(capacity: limits.depth + 1)
    }

    func release() {
        names.release()
        nodes.release()
        attributes.release()
        values.release()
        texts.release()
        frames.deallocate()
    }

    /// The names of another context: none of the old pointers means anything any longer.
    mutating func renewNames() {
        names.release()
        names = NameCache()
        lastNamespace = nil
    }

    @inline(__always)
    private mutating func reference(_ name: UnsafePointer<UInt8>) -> NameReference {
        let entry = names.entry(name)
        if entry.pointee.reference.isGlobal || entry.pointee.serial == serial { return entry.pointee.reference }
        return store(entry)
    }

    /// The same for a namespace, mostly the namespace of the element before.
    @inline(__always)
    private mutating func spaceReference(_ namespace: UnsafePointer<UInt8>?) -> NameReference {
        guard let namespace else { return .none }
        if namespace == lastNamespace { return lastReference }
        lastReference = reference(namespace)
        lastNamespace = namespace
        return lastReference
    }

    @inline(never)
    private mutating func store(_ entry: UnsafeMutablePointer<NameCache.Entry>) -> NameReference {
        guard let key = entry.pointee.key else { return .none }
        let length = NameCache.length(key)
        guard length <= limits.nameBytes, length <= UInt32.max else { return .none }
        let reference = NameReference(offset: values.count)
        withUnsafeBytes(of: UInt32(length)) { values.append($0) }  // fits: at most `nameBytes`
        values.append(key, length)
        entry.pointee.reference = reference
        entry.pointee.serial = serial
        return reference
    }

    /// Opens an element; returns the exceeded limit, nil if there is none.
    @inline(__always)
    mutating func open(
        _ name: UnsafePointer<UInt8>, _ namespace: UnsafePointer<UInt8>?, declarations: Int32, count: Int32,
        _ source: UnsafeMutablePointer<UnsafePointer<UInt8>?>?, readable: Range<UInt>
    ) -> LimitKind? {
        if depth >= maximumDepth { return .depth }
        let index = UInt32(truncatingIfNeeded: nodes.count)
        let nameReference = reference(name)
        let namespaceReference = spaceReference(namespace)
        var node = Node(name: nameReference, namespace: namespaceReference, parent: 0)
        if depth > 0 {
            let frame = frames + (depth &- 1)
            node.parent = frame.pointee.node
            if frame.pointee.lastChild == 0 {
                nodes.base[Int(frame.pointee.node)].first = index
            } else {
                nodes.base[Int(frame.pointee.lastChild)].next = index
            }
            frame.pointee.lastChild = index
            frame.pointee.children &+= 1
            if frame.pointee.children > limits.children { return .children }
        }
        frames[depth] = Frame(node: index, lastChild: 0, children: 0)
        depth &+= 1
        elements &+= 1
        node.attributes = UInt32(truncatingIfNeeded: attributes.count)
        node.text = UInt32(truncatingIfNeeded: texts.count)
        nodes.append(node)
        if nameReference == .none || (namespace != nil && namespaceReference == .none) { return .nameBytes }
        if elements > limits.elements { return .elements }
        if Int(count) &+ Int(declarations) > limits.attributes { return .attributes }
        guard count > 0, let source else { return nil }
        return addAttributes(Int(index), Int(count), source, readable)
    }

    @inline(__always)
    private mutating func addAttributes(
        _ index: Int, _ count: Int, _ source: UnsafeMutablePointer<UnsafePointer<UInt8>?>,
        _ readable: Range<UInt>
    ) -> LimitKind? {
        attributes.reserve(count)
        var field = source
        var record = attributes.base + attributes.count
        for _ in 0..<count {
            guard let name = field[0], let start = field[3], let end = field[4] else { return .nameBytes }
            let reference = reference(name)
            let namespace = field[2].map { self.reference($0) } ?? .inherited
            if reference == .none || namespace == .none { return .nameBytes }
            let length = end - start
            if length > limits.valueBytes { return .valueBytes }
            record.pointee = Attribute(
                name: reference, namespace: namespace, value: UInt32(truncatingIfNeeded: values.count),
                length: UInt32(truncatingIfNeeded: length))
            values.append(start, length, readable: readable)
            record += 1
            field += 5
        }
        attributes.count &+= count
        nodes.base[index].attributeCount = UInt32(truncatingIfNeeded: count)
        return nil
    }

    /// Adds text to the open element; returns the exceeded limit, nil if there is none.
    @inline(__always)
    mutating func text(
        _ bytes: UnsafePointer<UInt8>, _ length: Int, readable: Range<UInt>
    ) -> LimitKind? {
        let frame = frames[depth &- 1]
        var index = Int(frame.node)
        if frame.lastChild != 0 {
            index = Int(frame.lastChild)
            if !nodes.base[index].isText { index = openText(frame) }
        }
        texts.append(bytes, length, readable: readable)
        nodes.base[index].textLength &+= UInt32(truncatingIfNeeded: length)
        return nodes.base[index].textLength > limits.valueBytes ? .valueBytes : nil
    }

    @inline(never)
    private mutating func openText(_ frame: Frame) -> Int {
        let index = UInt32(truncatingIfNeeded: nodes.count)
        var node = Node(name: .text, namespace: .inherited, parent: frame.node)
        node.text = UInt32(truncatingIfNeeded: texts.count)
        nodes.append(node)
        nodes.base[Int(frame.lastChild)].next = index
        frames[depth &- 1].lastChild = index
        return Int(index)
    }

    @inline(__always)
    mutating func close() { depth &-= 1 }

    /// The finished tree. The builder is empty afterwards.
    mutating func finish() -> Tree {
        let tree = Tree.make(
            nodes: nodes.count, attributes: attributes.count, values: values.count, texts: texts.count)
        tree.fill(nodes: nodes, attributes: attributes, values: values, texts: texts)
        reset()
        return tree
    }

    mutating func reset() {
        depth = 0
        elements = 0
        serial &+= 1
        // An id outlives the stanza, a place among its values does not.
        if !lastReference.isGlobal { lastNamespace = nil }
        nodes.reset(keep: 1_024)
        attributes.reset(keep: 2_048)
        values.reset(keep: 65_536)
        texts.reset(keep: 65_536)
    }
}

/// A limit as the hot path names it.
enum LimitKind: UInt8 {
    case stanzaBytes, depth, attributes, children, elements, nameBytes, valueBytes

    var limit: SkippedElement.Limit {
        switch self {
        case .stanzaBytes: .stanzaBytes
        case .depth: .depth
        case .attributes: .attributes
        case .children: .children
        case .elements: .elements
        case .nameBytes: .nameBytes
        case .valueBytes: .valueBytes
        }
    }
}
