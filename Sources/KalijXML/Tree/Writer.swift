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
        defer { writer.output.release() }
        writer.write(index, inherited: inherited)
        return Array(UnsafeBufferPointer(start: writer.output.base, count: writer.output.count))
    }
}

/// Writes a tree. Namespaces of elements are written as `xmlns` where the namespace changes, attributes sorted by
/// namespace and name, and attributes in a namespace with a prefix declared on the spot.
private struct Writer {
    let tree: Tree
    /// Released by the caller.
    var output = Region<UInt8>(capacity: 256)
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
        if node.namespace != .inherited || output.count == 0, isXML(tree.bytes(tree.namespace(index))) != isPrefixed {
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
            append("/>")
            return
        }
        append("</")
        appendName(node)
        output.append(UInt8(ascii: ">"))
    }

    private mutating func appendName(_ node: Node) {
        if isPrefixed { append("xml:") }
        output.append(tree.bytes(node.name))
    }

    private mutating func writeAttributes(_ node: Node) {
        let range = Int(node.attributes)..<(Int(node.attributes) + Int(node.attributeCount))
        var prefixes = 0
        // Few, and mostly in order: each is the least of those behind the one before.
        if range.count <= Self.few {
            var last: Int?
            for _ in range {
                guard let next = least(of: range, behind: last) else { return }
                write(tree.attributes[next], &prefixes)
                last = next
            }
        } else {
            for place in range.sorted(by: isBefore) { write(tree.attributes[place], &prefixes) }
        }
    }

    /// Up to so many attributes are searched for the next one, which needs no memory; more are sorted.
    private static let few = 4

    private func least(of range: Range<Int>, behind last: Int?) -> Int? {
        var least: Int?
        for place in range where last.map({ isBefore($0, place) }) ?? true {
            if least.map({ isBefore(place, $0) }) ?? true { least = place }
        }
        return least
    }

    private mutating func write(_ attribute: Attribute, _ prefixes: inout Int) {
        let (name, value) = (tree.bytes(attribute.name), tree.value(attribute))
        if attribute.namespace.isAbsent {
            appendAttribute("", value, named: name)
        } else if withBytes(of: xmlNamespace, { tree.isName(attribute.namespace, $0) }) {
            appendAttribute("xml:", value, named: name)
        } else {
            prefixes += 1
            appendAttribute("xmlns:ns\(prefixes)", tree.bytes(attribute.namespace))
            appendAttribute("ns\(prefixes):", value, named: name)
        }
    }

    private func isBefore(_ left: Int, _ right: Int) -> Bool {
        let (first, second) = (tree.attributes[left], tree.attributes[right])
        if first.namespace.isAbsent, second.namespace.isAbsent {
            return precedes(tree.bytes(first.name), tree.bytes(second.name))
        }
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
        if !prefix.isEmpty { withBytes(of: prefix) { output.append($0) } }
        output.append(name)
        append("='")
        append(escaped: value, quoted: true)
        output.append(UInt8(ascii: "'"))
    }

    private mutating func append(escaped bytes: UnsafeRawBufferPointer, quoted: Bool) {
        var plain = 0
        for place in bytes.indices where Self.isSpecial(bytes[place]) {
            guard let reference = reference(bytes[place], quoted) else { continue }
            output.append(UnsafeRawBufferPointer(rebasing: bytes[plain..<place]))
            append(reference)
            plain = place + 1
        }
        output.append(UnsafeRawBufferPointer(rebasing: bytes[plain...]))
    }

    private mutating func append(_ text: StaticString) { output.append(text.utf8Start, text.utf8CodeUnitCount) }

    /// Whether a byte may need a reference, in some place.
    private static func isSpecial(_ byte: UInt8) -> Bool {
        byte < 64 && 1 &<< UInt64(byte) & specials != 0
    }

    /// A bit for each of TAB, LF, CR, and & ' < >.
    private static let specials: UInt64 =
        1 << 0x9 | 1 << 0xA | 1 << 0xD | 1 << 0x26 | 1 << 0x27 | 1 << 0x3C | 1 << 0x3E

    private func reference(_ byte: UInt8, _ quoted: Bool) -> StaticString? {
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
