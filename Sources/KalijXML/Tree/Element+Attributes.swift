let xmlNamespace = "http://www.w3.org/XML/1998/namespace"

extension Element {
    /// The value of an attribute, nil if there is none. Setting nil removes it.
    ///
    /// `xml:lang` is addressed as `"xml:lang"`, an attribute in another namespace as `"{namespace}local"`. `"xmlns"`
    /// reads and sets the element's namespace.
    public subscript(_ attribute: String) -> String? {
        get {
            if attribute == "xmlns" { return namespace }
            guard let place = place(of: attribute) else { return nil }
            return String(decoding: tree.value(tree.attributes[place]), as: UTF8.self)
        }
        nonmutating set {
            if attribute == "xmlns" { return setNamespace(newValue) }
            guard let newValue else { return removeAttribute(attribute) }
            setAttribute(attribute, validCharacters(newValue))
        }
    }

    /// All attributes by name, the namespace as `xmlns` among them.
    public var attributes: [String: String] {
        var result: [String: String] = [:]
        for place in attributePlaces {
            let attribute = tree.attributes[place]
            result[key(of: attribute)] = String(decoding: tree.value(attribute), as: UTF8.self)
        }
        if let namespace { result["xmlns"] = namespace }
        return result
    }

    /// Lends the bytes of an attribute's value, without a copy; nil if there is no such attribute.
    public func withAttribute<Result>(
        _ attribute: String, _ body: (UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result? {
        if attribute == "xmlns" {
            let namespace = tree.namespace(index)
            return namespace.isAbsent ? nil : try body(tree.bytes(namespace))
        }
        guard let place = place(of: attribute) else { return nil }
        return try body(tree.value(tree.attributes[place]))
    }

    var attributePlaces: Range<Int> {
        let node = node
        return Int(node.attributes)..<(Int(node.attributes) + Int(node.attributeCount))
    }

    func key(of attribute: Attribute) -> String {
        let name = tree.string(attribute.name)
        if attribute.namespace.isAbsent { return name }
        let namespace = tree.string(attribute.namespace)
        return namespace == xmlNamespace ? "xml:" + name : "{" + namespace + "}" + name
    }

    private func place(of attribute: String) -> Int? {
        guard let first = attribute.utf8.first else { return nil }
        if first != UInt8(ascii: "{") && !attribute.hasPrefix("xml:") {
            return withBytes(of: attribute) { tree.findAttribute(index, $0, nil) }
        }
        let name = QualifiedName(attribute)
        return withBytes(of: name.local) { local in
            guard let namespace = name.namespace else { return tree.findAttribute(index, local, nil) }
            return withBytes(of: namespace) { tree.findAttribute(index, local, $0) }
        }
    }

    private func setNamespace(_ xmlns: String?) {
        let reference = xmlns.map { $0.isEmpty ? NameReference.none : tree.store(validCharacters($0)) }
        tree.nodes[Int(index)].namespace = reference ?? .inherited
    }

    private func setAttribute(_ attribute: String, _ value: String) {
        let start = withBytes(of: value) { tree.appendValue($0) }
        let length = UInt32(value.utf8.count)
        if let place = place(of: attribute) {
            tree.attributes[place].value = start
            tree.attributes[place].length = length
            return
        }
        let name = QualifiedName(attribute)
        let namespace = name.namespace.map { tree.store($0) } ?? .inherited
        let new = Attribute(name: tree.store(validName: name.local), namespace: namespace, value: start, length: length)
        let places = attributePlaces
        if places.upperBound != tree.attributeCount || places.isEmpty {
            // The attributes of an element stand side by side: move them to where there is room for one more.
            tree.nodes[Int(index)].attributes = UInt32(tree.attributeCount)
            for place in places { _ = tree.append(tree.attributes[place]) }
        }
        _ = tree.append(new)
        tree.nodes[Int(index)].attributeCount += 1
    }

    private func removeAttribute(_ attribute: String) {
        guard let place = place(of: attribute) else { return }
        for later in place..<(attributePlaces.upperBound - 1) {
            tree.attributes[later] = tree.attributes[later + 1]
        }
        tree.nodes[Int(index)].attributeCount -= 1
    }
}

/// An attribute's name as programs and queries write it: `name`, `xml:name` or `{namespace}name`.
struct QualifiedName: Equatable {
    var namespace: String?
    var local: String

    init(_ written: String) {
        if written.utf8.first == UInt8(ascii: "{"), let end = written.firstIndex(of: "}") {
            let inside = written[written.index(after: written.startIndex)..<end]
            namespace = inside.isEmpty ? nil : String(inside)
            local = String(written[written.index(after: end)...])
        } else if written.hasPrefix("xml:") {
            namespace = xmlNamespace
            local = String(written.dropFirst(4))
        } else {
            local = written
        }
    }
}
