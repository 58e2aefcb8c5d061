import TestSupport

/// Writes a tree as XML in one of many ways: default namespaces or prefixes, prefixes bound anew, either quotation
/// mark, references or CDATA.
struct ModelWriter {
    private(set) var bytes: [UInt8] = []

    private struct Scope {
        var standard: String?
        var prefixes: [(prefix: String, namespace: String)] = []
        /// Prefixes used by the element itself: they cannot be bound anew there.
        var used: [String] = []
        /// Prefixes declared by the element, "" for the default namespace.
        var declared: [String] = []

        func namespace(_ prefix: String) -> String? { prefixes.last { $0.prefix == prefix }?.namespace }
    }

    /// A stanza of a stream whose namespace is jabber:client, with `tree` as its only child.
    static func stanza(_ tree: Model, _ random: inout Seeded) -> [UInt8] {
        var writer = ModelWriter()
        writer.bytes.reserveCapacity(1_024)
        writer.put("<message>")
        writer.write(tree, Scope(standard: client), &random)
        writer.put("</message>")
        return writer.bytes
    }

    private mutating func put(_ text: String) { bytes.append(contentsOf: text.utf8) }

    private mutating func write(_ element: Model, _ outer: Scope, _ random: inout Seeded) {
        var scope = Scope(standard: outer.standard, prefixes: outer.prefixes)
        var tag = element.name
        if let namespace = element.namespace, random.chance(25) {
            tag = prefix(for: namespace, &scope, &random) + ":" + tag
        } else if !same(element.namespace, scope.standard) || random.chance(10) {
            scope.standard = element.namespace
            scope.declared.append("")
        }
        var attributes: [(String, String)] = []
        for attribute in element.attributes {
            var name = attribute.name
            if let namespace = attribute.namespace {
                let isXML = namespace == xmlNamespace
                name = (isXML ? "xml" : prefix(for: namespace, &scope, &random)) + ":" + name
            }
            attributes.append((name, attribute.value))
        }
        for prefix in scope.declared {
            let namespace = prefix.isEmpty ? scope.standard : scope.namespace(prefix)
            attributes.append((prefix.isEmpty ? "xmlns" : "xmlns:" + prefix, namespace ?? ""))
        }
        put("<" + tag)
        for (name, value) in attributes { put(" " + name + "=", quoted: value, &random) }
        if element.pieces.isEmpty && random.chance(70) { return put("/>") }
        put(">")
        for piece in element.pieces {
            switch piece {
            case .text(let text): put(text: text, &random)
            case .element(let child): write(child, scope, &random)
            }
        }
        put("</" + tag + ">")
    }

    /// A prefix for the namespace: a prefix in scope, or a new declaration, perhaps in place of an outer declaration.
    private func prefix(for namespace: String, _ scope: inout Scope, _ random: inout Seeded) -> String {
        let all = ["p", "q", "r", "s", "t"]
        if random.chance(80), let known = all.first(where: { same(scope.namespace($0), namespace) }) {
            scope.used.append(known)
            return known
        }
        let prefix = random.pick(all.filter { !scope.used.contains($0) })
        scope.prefixes.append((prefix, namespace))
        scope.used.append(prefix)
        scope.declared.append(prefix)
        return prefix
    }

    private mutating func put(_ start: String, quoted value: String, _ random: inout Seeded) {
        let quote: UInt8 = random.chance(50) ? 0x27 : 0x22
        put(start)
        bytes.append(quote)
        for byte in value.utf8 {
            switch byte {
            case 0x26: put("&amp;")
            case 0x3C: put("&lt;")
            case 0x27: put("&apos;")
            case 0x22: put("&quot;")
            case 0x09, 0x0A, 0x0D: put("&#\(byte);")
            default: bytes.append(byte)
            }
        }
        bytes.append(quote)
    }

    private mutating func put(text: String, _ random: inout Seeded) {
        if random.chance(10), !text.contains("]"), !text.utf8.contains(0x0D) {
            return put("<![CDATA[" + text + "]]>")
        }
        for byte in text.utf8 {
            switch byte {
            case 0x26: put("&amp;")
            case 0x3C: put("&lt;")
            case 0x3E: put("&gt;")
            case 0x0D: put("&#xD;")
            default: bytes.append(byte)
            }
        }
    }
}
