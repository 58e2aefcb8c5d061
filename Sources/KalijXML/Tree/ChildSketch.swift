/// Which names and namespaces the children of an element may have, a bit for each: most searches among the children of a stanza find
/// nothing, and end here.
struct ChildSketch: BitwiseCopyable {
    /// The element that was searched last.
    private var candidate = UInt32.max
    /// The element of the bits.
    private var element = UInt32.max
    private var names: UInt64 = 0
    private var namespaces: UInt64 = 0

    /// Whether the bits are those of the element at `index`. They are made at the second search in turn: one search alone costs less.
    @inline(__always)
    mutating func isOf(_ index: UInt32, in view: TreeView) -> Bool {
        if element == index { return true }
        guard candidate == index else {
            candidate = index
            return false
        }
        draw(index, in: view)
        return true
    }

    @inline(never)
    private mutating func draw(_ index: UInt32, in view: TreeView) {
        (element, names, namespaces) = (index, 0, 0)
        _ = view.child(of: index) { view, node, child in
            names |= Self.bit(view.bytes(node.name))
            namespaces |= Self.bit(view.bytes(view.namespace(child)))
            return false
        }
    }

    @inline(__always)
    func mayHave(name: UnsafeRawBufferPointer) -> Bool { names & Self.bit(name) != 0 }
    @inline(__always)
    func mayHave(namespace: UnsafeRawBufferPointer) -> Bool { namespaces & Self.bit(namespace) != 0 }

    /// Of the length, and two bytes in which names and namespaces of XMPP differ.
    @inline(__always)
    private static func bit(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        guard let last = bytes.last else { return 1 }
        // fits: more bits
        let middle = UInt64(bytes[bytes.count >> 1])
        let count = UInt64(truncatingIfNeeded: bytes.count)
        // fits: more bits
        return 1 << ((UInt64(last) &* 5 ^ middle &* 3 &+ count &* 11) & 63)
    }
}

extension ChildSketch {
    /// Whether the element at `index` may have a child of this name.
    @inline(__always)
    static func mayFind(_ name: UnsafeRawBufferPointer, below index: UInt32, of tree: Tree) -> Bool {
        tree.withUnsafeMutablePointerToHeader {
            !$0.pointee.sketch.isOf(index, in: $0.pointee.view) || $0.pointee.sketch.mayHave(name: name)
        }
    }

    /// Whether the element at `index` may have a child in this namespace.
    @inline(__always)
    static func mayFind(namespace: UnsafeRawBufferPointer, below index: UInt32, of tree: Tree) -> Bool {
        tree.withUnsafeMutablePointerToHeader {
            !$0.pointee.sketch.isOf(index, in: $0.pointee.view) || $0.pointee.sketch.mayHave(namespace: namespace)
        }
    }

    /// The names of elements, or the places of children, have changed.
    static func discard(of tree: Tree) { tree.withUnsafeMutablePointerToHeader { $0.pointee.sketch = ChildSketch() } }
}
