import KalijXML

/// An element in the slow and obvious way, to compare the real element with.
final class ModelElement {
    enum Namespace {
        case inherited, none
        case own(String)
    }

    enum Content {
        case text(String)
        case child(ModelElement)
    }

    /// An attribute's name. Attributes are written by namespace and name, in the order of bytes.
    struct Key: Hashable {
        var namespace: String?
        var local: String

        // To the letter; strings are also equal if only their characters look the same.
        static func == (left: Key, right: Key) -> Bool { left.bytes == right.bytes }
        func hash(into hasher: inout Hasher) { hasher.combine(bytes) }
        private var bytes: [[UInt8]] { [Array((namespace ?? "").utf8), Array(local.utf8)] }
    }

    let name: String
    var namespace = Namespace.inherited
    var attributes: [Key: String] = [:]
    var content: [Content] = []
    weak var parent: ModelElement?

    init(name: String) { self.name = name }

    var effectiveNamespace: Namespace {
        guard case .inherited = namespace, let parent else { return namespace }
        return parent.effectiveNamespace
    }

    var children: [ModelElement] {
        content.compactMap { if case .child(let child) = $0 { child } else { nil } }
    }

    var text: String {
        content.compactMap { if case .text(let text) = $0 { text } else { nil } }.joined()
    }

    var count: Int { children.reduce(1) { $0 + $1.count } }

    func copy() -> ModelElement {
        let copy = ModelElement(name: name)
        copy.namespace = effectiveNamespace
        copy.attributes = attributes
        copy.content = content.map { piece in
            guard case .child(let child) = piece else { return piece }
            let copied = child.copy()
            copied.namespace = child.namespace
            copied.parent = copy
            return .child(copied)
        }
        return copy
    }

    func add(_ child: ModelElement) -> ModelElement {
        let copied = child.copy()
        copied.parent = self
        content.append(.child(copied))
        return copied
    }

    func add(text: String) {
        if text.isEmpty { return }
        content.append(.text(text))
        joinText()
    }

    func setText(_ text: String) {
        content = children.map(Content.child)
        if !text.isEmpty { content.insert(.text(text), at: 0) }
    }

    func remove(_ child: ModelElement) {
        guard child.parent === self else { return }
        child.namespace = child.effectiveNamespace
        child.parent = nil
        content.removeAll { if case .child(let other) = $0 { other === child } else { false } }
        joinText()
    }

    private func joinText() {
        var joined: [Content] = []
        for piece in content {
            if case .text(let text) = piece, case .text(let before) = joined.last {
                joined[joined.count - 1] = .text(before + text)
            } else {
                joined.append(piece)
            }
        }
        content = joined
    }
}

// MARK: - Writing

extension ModelElement {
    /// The canonical XML, where `around` is in effect.
    func xml(around: String = "", isRoot: Bool = true) -> String {
        var inside = around
        switch isRoot ? effectiveNamespace : namespace {
        case .inherited: break
        case .none: inside = ""
        case .own(let own): inside = own
        }
        // The XML namespace has its prefix everywhere, and cannot be declared.
        let written = sameBytes(inside, xmlNamespace) ? "xml:" + name : name
        var result = "<" + written
        if written == name, !sameBytes(inside, around) { result += attribute("xmlns", inside) }
        var declared = 0
        for (key, value) in attributes.sorted(by: { isBefore($0.key, $1.key) }) {
            switch key.namespace {
            case nil: result += attribute(key.local, value)
            case xmlNamespace: result += attribute("xml:" + key.local, value)
            case let namespace?:
                declared += 1
                result += attribute("xmlns:ns\(declared)", namespace) + attribute("ns\(declared):" + key.local, value)
            }
        }
        if content.isEmpty { return result + "/>" }
        result += ">"
        for piece in content {
            switch piece {
            case .text(let text): result += escaped(text, "&<>\r")
            case .child(let child): result += child.xml(around: inside, isRoot: false)
            }
        }
        return result + "</" + written + ">"
    }

    private func attribute(_ name: String, _ value: String) -> String {
        " " + name + "='" + escaped(value, "&<>\r\n\t'") + "'"
    }

    private func escaped(_ text: String, _ escape: String) -> String {
        let references: [Unicode.Scalar: String] = [
            "&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;", "\n": "&#10;", "\t": "&#9;", "'": "&apos;",
        ]
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if let reference = references[scalar], escape.unicodeScalars.contains(scalar) {
                result.append(contentsOf: reference.unicodeScalars)
            } else {
                result.append(scalar)
            }
        }
        return String(result)
    }

    private func isBefore(_ left: Key, _ right: Key) -> Bool {
        let (space, other) = (left.namespace ?? "", right.namespace ?? "")
        if !sameBytes(space, other) { return space.utf8.lexicographicallyPrecedes(other.utf8) }
        return left.local.utf8.lexicographicallyPrecedes(right.local.utf8)
    }

    private func sameBytes(_ left: String, _ right: String) -> Bool { left.utf8.elementsEqual(right.utf8) }
}

let xmlNamespace = "http://www.w3.org/XML/1998/namespace"
let xmlnsNamespace = "http://www.w3.org/2000/xmlns/"
