let xmlNamespace = "http://www.w3.org/XML/1998/namespace"
/// The namespace of declarations: nothing else can be in this namespace (Namespaces in XML 1.0, section 3).
let declarationNamespace = "http://www.w3.org/2000/xmlns/"

extension Element {
    /// The value of an attribute, nil if missing. Setting nil removes the attribute.
    ///
    /// `xml:lang` is addressed as `"xml:lang"`, an attribute in another namespace as `"{namespace}local"`. `"xmlns"`
    /// reads and sets the element's namespace.
    public subscript(_ attribute: String) -> String? {
        get {
            if isDeclaration(attribute) { return namespace }
            guard let place = place(of: attribute) else { return nil }
            return String(decoding: tree.value(tree.attributes[place]), as: UTF8.self)
        }
        nonmutating set {
            if let newValue, attributePlaces.isEmpty, NewElement.isPlain(attribute) {
                return NewElement.add(attribute, newValue, to: self)
            }
            let name = QualifiedName(attribute)
            if name.isNamespaceDeclaration { return setNamespace(newValue) }
            guard let newValue else { return removeAttribute(name) }
            setAttribute(name, validCharacters(newValue))
        }
    }

    /// All attributes by name, with the namespace as `xmlns`. Swift takes canonically equivalent names for one: of such
    /// attributes the last is here, while ``subscript(_:)`` and `==` compare bytes.
    public var attributes: [String: String] {  // characters: equivalent names are one; the last counts.
        var result: [String: String] = [:]  // characters: as above.
        for place in attributePlaces {
            let attribute = tree.attributes[place]
            result[key(of: attribute)] = String(decoding: tree.value(attribute), as: UTF8.self)
        }
        if let namespace { result["xmlns"] = namespace }
        return result
    }

    /// Lends the bytes of an attribute's value, without a copy; nil if there is no such attribute.
    ///
    /// - Parameters:
    ///   - attribute: The name, as in ``subscript(_:)``.
    ///   - body: Gets the bytes, UTF-8, good during the call; must not change the tree.
    /// - Returns: The result of `body`.
    public func withAttribute<Result>(
        _ attribute: String, _ body: (UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result? {
        if isDeclaration(attribute) {
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

    private func isDeclaration(_ attribute: String) -> Bool {
        attribute == "xmlns"
            || (attribute.utf8.first == UInt8(ascii: "{") && QualifiedName(attribute).isNamespaceDeclaration)
    }

    private func place(of attribute: String) -> Int? {
        guard node.attributeCount > 0 else { return nil }
        if let place = withBytes(of: attribute, { tree.findAttribute(index, $0, nil) }) { return place }
        // Nearly all names are plain; other names are read as set.
        return isPlainName(attribute) ? nil : place(of: QualifiedName(attribute))
    }

    private func place(of name: QualifiedName) -> Int? {
        withBytes(of: name.local) { local in
            guard let namespace = name.namespace else { return tree.findAttribute(index, local, nil) }
            return withBytes(of: namespace) { tree.findAttribute(index, local, $0) }
        }
    }

    func setNamespace(_ xmlns: String?) {
        let reference = xmlns.map {
            $0.isEmpty || $0 == declarationNamespace ? NameReference.none : tree.store(validCharacters($0))
        }
        tree.nodes[Int(index)].namespace = reference ?? .inherited
        ChildSketch.discard(of: tree)
    }

    private func setAttribute(_ name: QualifiedName, _ value: String) {
        if let place = place(of: name) {
            tree.attributes[place].value = withBytes(of: value) { tree.appendValue($0) }
            tree.attributes[place].length = UInt32(value.utf8.count)  // traps: on a program's own value of 4 GiB
            return
        }
        let namespace = name.namespace.map { tree.store($0) } ?? .inherited
        NewElement.append(tree.store(name.local), namespace, value, to: self)
    }

    private func removeAttribute(_ name: QualifiedName) {
        guard let place = place(of: name) else { return }
        for later in place..<(attributePlaces.upperBound - 1) {
            tree.attributes[later] = tree.attributes[later + 1]
        }
        tree.nodes[Int(index)].attributeCount -= 1
    }
}

/// An attribute's name as written in programs: `name`, `xml:name` or `{namespace}name`. Characters forbidden in XML are
/// replaced, so that the written name can be read.
struct QualifiedName: Equatable {
    var namespace: String?
    var local: String

    init(_ written: String) {
        if isPlainName(written) {
            local = written
            return
        }
        let bytes = written.utf8
        if bytes.first == UInt8(ascii: "{"), let end = bytes.firstIndex(of: UInt8(ascii: "}")) {
            let inside = String(decoding: bytes[..<end].dropFirst(), as: UTF8.self)
            namespace = inside.isEmpty || inside == declarationNamespace ? nil : validCharacters(inside)
            local = validName(String(decoding: bytes[end...].dropFirst(), as: UTF8.self))
        } else if bytes.starts(with: "xml:".utf8) {
            namespace = xmlNamespace
            local = validName(String(decoding: bytes.dropFirst(4), as: UTF8.self))
        } else {
            local = validName(written)
        }
    }

    /// `xmlns` is no attribute but the element's namespace.
    var isNamespaceDeclaration: Bool { namespace == nil && local == "xmlns" }
}
