import KalijXML

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Edits trees at random, next to a model of each. Afterwards each tree agrees with its model, is written like its
/// model, and is equal after writing and reading.
func fuzzWriting(_ input: UnsafeRawBufferPointer) throws {
    var source = ByteSource(input)
    var workshop = Workshop()
    var steps = 0
    while !source.isEmpty, steps < 400 {
        try workshop.step(&source)
        steps += 1
    }
    for (element, model) in workshop.pairs {
        try requireSame(element, model)
        let written = element.xml()
        let expected = model.xml()
        try require(
            written.utf8.elementsEqual(expected.utf8), "written: \(written)\nexpected: \(expected)")
        try requireRoundTrip(element)
        let copy = element.copy()
        try require(copy == element && copy.bytes() == element.bytes(), "the copy \(copy) of \(element)")
        // Coding takes as long as all the rest: not with every element.
        guard written.utf8.count % 8 == 0 else { continue }
        let coded = try JSONDecoder().decode(Element.self, from: JSONEncoder().encode(element))
        try require(coded == element && coded.bytes() == element.bytes(), "coded: \(coded), before: \(element)")
    }
}

/// References to elements, each with its model.
private struct Workshop {
    var pairs: [(element: Element, model: ModelElement)] = [(Element("a"), ModelElement(name: "a"))]
    private var values = ["", "x", " \t\n\r ", "<&>'\"]]>", "\u{0}\u{FFFE}\u{1F600}", "jabber:client"]
    /// The roots of the models, which only know their parents weakly.
    private var kept: [ModelElement] = []

    private static let names = ["a", "b", "message", "x-y.z", "é", "1", "a:b", "", "xmlns", "xml"]
    private static let keys = [
        "x", "y", "type", "xml:lang", "{n1}x", "{n2}x", "{jabber:client}type", "xmlns", "{}x", "a b", "", "xml:", "{n",
        "{\(xmlNamespace)}id", "{}xmlns", "{n1}xmlns", "xmlns:p", "é",
    ]
    private static let namespaces = ["jabber:client", "n1", "urn:<&>'\" \n", xmlNamespace, xmlnsNamespace]
    private static let most = 8

    mutating func step(_ source: inout ByteSource) throws {
        let place = source.number(below: pairs.count)
        let (element, model) = pairs[place]
        switch source.number(below: 12) {
        case 0: create(&source)
        case 1, 2:
            let child = source.pick(pairs)
            guard model.root.count + child.model.count < 200 else { return }
            keep(element.add(child.element), model.add(child.model))
        case 3:
            let text = value(&source)
            element.add(text: text)
            model.add(text: valid(text))
        case 4:
            let text = value(&source)
            element.setText(text)
            model.setText(valid(text))
        case 5, 6: try setAttribute(&source, element, model)
        case 7: setNamespace(&source, element, model)
        case 8: walk(&source, element, model)
        case 9:
            element.remove()
            model.parent?.remove(model)
            kept.append(model)
        case 10:
            let child = source.pick(pairs)
            element.remove(child.element)
            model.remove(child.model)
            kept.append(child.model.root)
        default:
            keep(element.copy(), model.copy())
        }
    }

    private mutating func keep(_ element: Element, _ model: ModelElement) {
        kept.append(model.root)
        if pairs.count < Workshop.most {
            pairs.append((element, model))
        } else {
            pairs.removeFirst()
            pairs.append((element, model))
        }
    }

    private mutating func create(_ source: inout ByteSource) {
        let name = source.oneIn(4) ? source.text() : source.pick(Workshop.names)
        let text = source.oneIn(3) ? value(&source) : nil
        let children = source.oneIn(4) ? [source.pick(pairs)] : []
        guard children.allSatisfy({ $0.model.count < 100 }) else { return }
        let element = Element(name, children: children.map(\.element), text: text)
        // The reader of the written XML judges the characters of a name.
        let model = ModelElement(name: element.name)
        if let text { model.add(text: valid(text)) }
        for child in children { _ = model.add(child.model) }
        keep(element, model)
    }

    private mutating func walk(_ source: inout ByteSource, _ element: Element, _ model: ModelElement) {
        if source.oneIn(3) {
            if let parent = element.parent, let above = model.parent { keep(parent, above) }
            return
        }
        let children = zip(element.children, model.children).map { ($0, $1) }
        guard !children.isEmpty else { return }
        let (child, itsModel) = source.pick(children)
        keep(child, itsModel)
    }

    private func value(_ source: inout ByteSource) -> String {
        source.oneIn(2) ? source.text() : source.pick(values)
    }

    private func setNamespace(_ source: inout ByteSource, _ element: Element, _ model: ModelElement) {
        switch source.number(below: 5) {
        case 0: set(namespace: nil, element, model)
        case 1: set(namespace: "", element, model)
        case 2: set(namespace: source.text(), element, model)
        default: set(namespace: source.pick(Workshop.namespaces), element, model)
        }
    }

    private func set(namespace: String?, _ element: Element, _ model: ModelElement) {
        element["xmlns"] = namespace
        // Only declarations can be in the declarations' namespace.
        model.namespace =
            namespace.map { $0.isEmpty || $0 == xmlnsNamespace ? .none : .own(valid($0)) } ?? .inherited
    }

    private func setAttribute(
        _ source: inout ByteSource, _ element: Element, _ model: ModelElement
    ) throws {
        let key = source.oneIn(3) ? source.text() : source.pick(Workshop.keys)
        if source.oneIn(5) {
            element[key] = nil
            let isGone = element[key] == nil || ModelElement.Key(key).isDeclaration
            try require(isGone, "removed attribute \(key) of \(element)")
            return model.remove(key)
        }
        let value = value(&source)
        if ModelElement.Key(key).isDeclaration { return set(namespace: value, element, model) }
        element[key] = value
        try require(
            element[key]?.utf8.elementsEqual(valid(value).utf8) == true, "set \(key) to \(value) of \(element)")
        model.set(key, valid(value))
    }
}

extension ModelElement {
    fileprivate var root: ModelElement { parent?.root ?? self }

    fileprivate func remove(_ written: String) {
        if Key(written).isDeclaration { namespace = .inherited } else { attributes[Key(written)] = nil }
    }

    fileprivate func set(_ written: String, _ value: String) { attributes[Key(written)] = value }
}

extension ModelElement.Key {
    fileprivate var isDeclaration: Bool { namespace == nil && local == "xmlns" }

    /// The documented forms of attributes' names: `name`, `xml:name` or `{namespace}name`.
    fileprivate init(_ written: String) {
        let bytes = Array(written.utf8)
        if bytes.first == UInt8(ascii: "{"), let end = bytes.firstIndex(of: UInt8(ascii: "}")) {
            let space = valid(String(decoding: bytes[1..<end], as: UTF8.self))
            namespace = space.isEmpty || space == xmlnsNamespace ? nil : space
            local = validName(String(decoding: bytes[(end + 1)...], as: UTF8.self))
        } else if bytes.starts(with: "xml:".utf8) {
            namespace = xmlNamespace
            local = validName(String(decoding: bytes.dropFirst(4), as: UTF8.self))
        } else {
            local = validName(written)
        }
    }
}

/// The replacement of a forbidden name; the reader of the written XML judges the result.
private func validName(_ name: String) -> String { Element(name).name }

/// Characters forbidden in XML are replaced by U+FFFD.
private func valid(_ text: String) -> String {
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
        let isForbidden = scalar.value < 0x20 && !"\t\n\r".unicodeScalars.contains(scalar)
        result.append(isForbidden || scalar == "\u{FFFE}" || scalar == "\u{FFFF}" ? "\u{FFFD}" : scalar)
    }
    return String(result)
}

private func requireSame(_ element: Element, _ model: ModelElement) throws {
    let namespace: String? = if case .own(let own) = model.effectiveNamespace { own } else { nil }
    try require(
        element.name == model.name && element.namespace == namespace && element.text == model.text,
        "\(element) is not \(model.xml())")
    let children = (element.children, model.children)
    try require(children.0.count == children.1.count, "children of \(element), not of \(model.xml())")
    let attributes = element.attributes.filter { $0.key != "xmlns" || namespace == nil }
    try require(attributes.count == model.attributes.count, "attributes of \(element), not of \(model.xml())")
    for (child, itsModel) in zip(children.0, children.1) { try requireSame(child, itsModel) }
}
