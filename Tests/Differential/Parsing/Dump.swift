@testable import KalijXML

/// The whole content of a stream, written like lxml's in `Programs/dump.py`.
struct Dump: Equatable {
    private(set) var bytes: [UInt8] = []

    /// The header of the stream, without content.
    mutating func add(header: Element) {
        open(header)
        bytes.append(UInt8(ascii: "|"))
        bytes.append(contentsOf: (header.defaultNamespace ?? "").utf8)
    }

    /// A stanza, with its content.
    mutating func add(_ element: Element) {
        bytes.append(0x0A)
        content(element)
    }

    private mutating func content(_ element: Element) {
        open(element)
        let tree = element.tree.view
        add(text: tree.ownText(element.node))
        var next = element.node.first
        while next != 0 {
            let node = tree.nodes[Int(next)]
            if node.isText {
                add(text: tree.ownText(node))
            } else {
                content(Element(tree: element.tree, index: next))
            }
            next = node.next
        }
        bytes.append(UInt8(ascii: "/"))
    }

    private mutating func open(_ element: Element) {
        bytes.append(UInt8(ascii: "<"))
        let tree = element.tree.view
        let namespace = tree.namespace(element.index)
        add(name: tree.bytes(element.node.name), namespace: namespace.isAbsent ? nil : tree.bytes(namespace))
        var attributes: [(key: Dump, value: Dump)] = []
        for place in element.attributePlaces {
            let attribute = tree.attributes[place]
            var (key, value) = (Dump(), Dump())
            key.add(
                name: tree.bytes(attribute.name),
                namespace: attribute.namespace.isAbsent ? nil : tree.bytes(attribute.namespace))
            value.measured(tree.value(attribute))
            attributes.append((key, value))
        }
        if attributes.count > 1 { attributes.sort { Dump.isBefore($0.key.bytes, $1.key.bytes) } }
        for (key, value) in attributes {
            bytes.append(UInt8(ascii: " "))
            bytes.append(contentsOf: key.bytes)
            bytes.append(UInt8(ascii: "="))
            bytes.append(contentsOf: value.bytes)
        }
        bytes.append(UInt8(ascii: ">"))
    }

    /// By the name itself, not by the length before the name.
    private static func isBefore(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        let colon = UInt8(ascii: ":")
        return left.drop { $0 != colon }.lexicographicallyPrecedes(right.drop { $0 != colon })
    }

    private mutating func add(text: UnsafeRawBufferPointer) {
        if text.isEmpty { return }
        bytes.append(UInt8(ascii: "\""))
        measured(text)
    }

    private mutating func measured(_ text: UnsafeRawBufferPointer) {
        bytes.append(contentsOf: "\(text.count):".utf8)
        bytes.append(contentsOf: text)
    }

    private mutating func add(name: UnsafeRawBufferPointer, namespace: UnsafeRawBufferPointer?) {
        guard let namespace else { return measured(name) }
        bytes.append(contentsOf: "\(name.count + namespace.count + 2):{".utf8)
        bytes.append(contentsOf: namespace)
        bytes.append(UInt8(ascii: "}"))
        bytes.append(contentsOf: name)
    }
}
