extension Element {
    /// The canonical XML: the same tree gives the same text, and reading it gives an equal tree.
    ///
    /// - Parameter inherited: The namespace in effect at the destination, which is not declared again.
    /// - Returns: One element, without an XML declaration.
    public func xml(in inherited: String? = nil) -> String {
        String(decoding: bytes(in: inherited), as: UTF8.self)
    }

    /// The bytes of ``xml(in:)``.
    public func bytes(in inherited: String? = nil) -> [UInt8] {
        var writer = Writer(tree: tree)
        writer.output.reserveCapacity(256)
        writer.write(index, inherited: inherited)
        return writer.output
    }
}

/// Writes a tree. Namespaces of elements are written as `xmlns` where the namespace changes, attributes sorted by
/// namespace and name, and attributes in a namespace with a prefix declared on the spot.
private struct Writer {
    let tree: Tree
    var output: [UInt8] = []
    /// The open elements in the namespace of `xml:lang` inside others, or the reverse.
    private var turns: [UInt32] = []
    /// Whether the open element is in the namespace of `xml:lang`.
    private var isPrefixed: Bool { turns.count % 2 == 1 }

    init(tree: Tree) { self.tree = tree }

    mutating func write(_ root: UInt32, inherited: String?) {
        var index = root
        while true {
            let node = tree.nodes[Int(index)]
            if node.isText {
                append(escaped: tree.ownText(node), quoted: false)
            } else {
                open(index, node, declare: declaration(index, root: root, inherited: inherited))
                if node.first != 0 {
                    index = node.first
                    continue
                }
                close(index, node)
            }
            while index != root, tree.nodes[Int(index)].next == 0 {
                index = tree.nodes[Int(index)].parent
                close(index, tree.nodes[Int(index)])
            }
            if index == root { return }
            index = tree.nodes[Int(index)].next
        }
    }

    /// The namespace to declare on an element, nil if already in effect.
    private func declaration(_ index: UInt32, root: UInt32, inherited: String?) -> UnsafeRawBufferPointer? {
        if index != root, tree.nodes[Int(index)].namespace == .inherited { return nil }
        let own = tree.bytes(tree.namespace(index))
        if isXML(own) { return nil }
        if index != root {
            return sameBytes(own, tree.bytes(tree.namespace(tree.nodes[Int(index)].parent))) ? nil : own
        }
        // A root without any namespace takes the namespace of the destination.
        if tree.namespace(index) == .inherited { return nil }
        return withBytes(of: inherited ?? "") { sameBytes(own, $0) } ? nil : own
    }

    /// The namespace of `xml:lang` cannot be declared: names in this namespace have their prefix instead.
    private func isXML(_ namespace: UnsafeRawBufferPointer) -> Bool {
        namespace.count == xmlNamespace.utf8.count && withBytes(of: xmlNamespace) { sameBytes(namespace, $0) }
    }

    private mutating func open(_ index: UInt32, _ node: Node, declare namespace: UnsafeRawBufferPointer?) {
        if node.namespace != .inherited || output.isEmpty, isXML(tree.bytes(tree.namespace(index))) != isPrefixed {
            turns.append(index)
        }
        output.append(UInt8(ascii: "<"))
        appendName(node)
        if let namespace { appendAttribute("xmlns", namespace) }
        if node.attributeCount > 0 { writeAttributes(node) }
        if node.first == 0 && node.textLength == 0 { return }
        output.append(UInt8(ascii: ">"))
        append(escaped: tree.ownText(node), quoted: false)
    }

    private mutating func close(_ index: UInt32, _ node: Node) {
        defer { if turns.last == index { turns.removeLast() } }
        if node.first == 0 && node.textLength == 0 {
            output.append(contentsOf: "/>".utf8)
            return
        }
        output.append(contentsOf: "</".utf8)
        appendName(node)
        output.append(UInt8(ascii: ">"))
    }

    private mutating func appendName(_ node: Node) {
        if isPrefixed { output.append(contentsOf: "xml:".utf8) }
        output.append(contentsOf: tree.bytes(node.name))
    }

    private mutating func writeAttributes(_ node: Node) {
        let range = Int(node.attributes)..<(Int(node.attributes) + Int(node.attributeCount))
        let places = range.count == 1 ? Array(range) : range.sorted(by: isBefore)
        var prefixes = 0
        for place in places {
            let attribute = tree.attributes[place]
            var prefix = ""
            if withBytes(of: xmlNamespace, { tree.isName(attribute.namespace, $0) }) {
                prefix = "xml:"
            } else if !attribute.namespace.isAbsent {
                prefixes += 1
                prefix = "ns\(prefixes):"
                appendAttribute("xmlns:ns\(prefixes)", tree.bytes(attribute.namespace))
            }
            appendAttribute(prefix, tree.value(attribute), named: tree.bytes(attribute.name))
        }
    }

    private func isBefore(_ left: Int, _ right: Int) -> Bool {
        let (first, second) = (tree.attributes[left], tree.attributes[right])
        let (space, other) = (tree.bytes(first.namespace), tree.bytes(second.namespace))
        return sameBytes(space, other)
            ? precedes(tree.bytes(first.name), tree.bytes(second.name)) : precedes(space, other)
    }

    private func precedes(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
        guard let one = left.baseAddress, let other = right.baseAddress else { return left.count < right.count }
        let order = orderMemory(one, other, min(left.count, right.count))
        return order == 0 ? left.count < right.count : order < 0
    }

    private mutating func appendAttribute(
        _ prefix: String, _ value: UnsafeRawBufferPointer,
        named name: UnsafeRawBufferPointer = UnsafeRawBufferPointer(start: nil, count: 0)
    ) {
        output.append(UInt8(ascii: " "))
        if !prefix.isEmpty { output.append(contentsOf: prefix.utf8) }
        output.append(contentsOf: name)
        output.append(contentsOf: "='".utf8)
        append(escaped: value, quoted: true)
        output.append(UInt8(ascii: "'"))
    }

    private mutating func append(escaped bytes: UnsafeRawBufferPointer, quoted: Bool) {
        guard bytes.contains(where: { $0 <= UInt8(ascii: ">") && reference($0, quoted) != nil }) else {
            return output.append(contentsOf: bytes)
        }
        var plain = 0
        for place in bytes.indices where bytes[place] <= UInt8(ascii: ">") {
            guard let reference = reference(bytes[place], quoted) else { continue }
            output.append(contentsOf: bytes[plain..<place])
            output.append(contentsOf: reference.utf8)
            plain = place + 1
        }
        output.append(contentsOf: bytes[plain...])
    }

    private func reference(_ byte: UInt8, _ quoted: Bool) -> String? {
        switch byte {
        case UInt8(ascii: "&"): "&amp;"
        case UInt8(ascii: "<"): "&lt;"
        case UInt8(ascii: ">"): "&gt;"
        case 0xD: "&#13;"
        case UInt8(ascii: "'") where quoted: "&apos;"
        case 0x9 where quoted: "&#9;"
        case 0xA where quoted: "&#10;"
        default: nil
        }
    }

}
