import TestSupport

/// Writes well-formed streams with all the freedom of XML: prefixes bound anew, default namespaces undeclared, CDATA,
/// references, every line end, white space in tags, mixed content, characters of every length.
struct RandomStream {
    private var bytes: [UInt8] = []
    private var elements = 0
    private var identifiers = 0
    private var random: Seeded

    private struct Scope {
        var standard = ""
        var prefixes: [String: String] = [:]
    }

    private init(_ random: Seeded) { self.random = random }

    static func make(_ random: inout Seeded) -> [UInt8] {
        var writer = RandomStream(random)
        writer.bytes.reserveCapacity(1_024)
        writer.writeStream()
        random = writer.random
        return writer.bytes
    }

    private mutating func put(_ text: String) { bytes.append(contentsOf: text.utf8) }
    private mutating func put(anyOf texts: [String]) { put(random.pick(texts)) }
}

// MARK: - Tags

extension RandomStream {
    private static let names = ["a", "b", "message", "\u{E9}.-_", "名", "x1", "_", "\u{1D4B3}", "e\u{301}"]
    private static let prefixes = ["p", "q", "r", "\u{E9}", "stream"]
    private static let namespaces = ["urn:a", "urn:b", "http://c/#d", "jabber:client", "vcard-temp", "urn:x:%C3%A9"]
    private static let spaces = [" ", " ", " ", "\n", "\t", "\r\n", "  \r", "\n    "]

    private mutating func writeStream() {
        put(
            anyOf: [
                "<?xml version='1.0'?>", "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n",
                "<?xml version='1.0' encoding='utf-8' standalone='yes' ?>\r\n", "",
            ])
        var scope = Scope()
        var name = "stream:stream"
        put("<")
        switch random.below(4) {
        case 0:
            name = "stream"
            put("stream xmlns='http://etherx.jabber.org/streams' xmlns:p='urn:a'")
            scope = Scope(standard: "http://etherx.jabber.org/streams", prefixes: ["p": "urn:a"])
        case 1:
            name = "s"
            put("s xmlns:q=\"urn:b\"")
            scope.prefixes["q"] = "urn:b"
        default:
            put("stream:stream xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams'")
            scope = Scope(standard: "jabber:client", prefixes: ["stream": "http://etherx.jabber.org/streams"])
        }
        writeAttributes(scope)
        put(">")
        for _ in 0...random.below(2) {
            if random.chance(40) { put(anyOf: [" ", "\n", "\r\n", "\t\r"]) }
            elements = 0
            writeElement(scope, depth: 0)
        }
        put("</" + name + ">")
    }

    private mutating func writeElement(_ outer: Scope, depth: Int) {
        elements += 1
        var scope = outer
        var declarations: [(String, String)] = []
        if random.chance(20) {
            scope.standard = random.chance(25) ? "" : random.pick(RandomStream.namespaces)
            declarations.append(("xmlns", scope.standard))
        }
        for _ in 0..<2 where random.chance(20) {
            let prefix = random.pick(RandomStream.prefixes)
            if declarations.contains(where: { $0.0 == "xmlns:" + prefix }) { continue }
            let namespace = random.pick(RandomStream.namespaces)
            scope.prefixes[prefix] = namespace
            declarations.append(("xmlns:" + prefix, namespace))
        }
        if random.chance(2) { declarations.append(("xmlns:xml", xmlNamespace)) }
        var name = random.pick(RandomStream.names)
        if random.chance(25), let prefix = knownPrefix(scope) { name = prefix + ":" + name }
        put("<" + name)
        // A prefix may be used before the attribute with its declaration.
        let isLate = random.chance(30)
        if isLate { writeAttributes(scope) }
        for (name, namespace) in declarations { writeAttribute(name, namespace) }
        if !isLate { writeAttributes(scope) }
        if random.chance(15) { put(anyOf: RandomStream.spaces) }
        if random.chance(25) { return put("/>") }
        put(">")
        writeContent(scope, depth: depth)
        put("</" + name)
        if random.chance(10) { put(anyOf: RandomStream.spaces) }
        put(">")
    }

    private mutating func knownPrefix(_ scope: Scope) -> String? {
        let known = scope.prefixes.keys.sorted()
        return known.isEmpty ? nil : random.pick(known)
    }

    private mutating func writeAttributes(_ scope: Scope) {
        var seen: [String] = []
        for _ in 0..<random.below(4) {
            var name = random.pick(["x", "y", "id", "\u{E9}", "\u{1D4B3}"])
            var key = name
            switch random.below(6) {
            case 0:
                name = "xml:" + random.pick(["lang", "space", "base", "id", "other"])
                key = name
            case 1, 2:
                guard let prefix = knownPrefix(scope), let namespace = scope.prefixes[prefix] else { break }
                key = namespace + " " + name
                name = prefix + ":" + name
            default: break
            }
            // Not twice, even by another prefix.
            if seen.contains(where: { same($0, key) }) { continue }
            seen.append(key)
            if name == "xml:space" {
                writeAttribute(name, random.pick(["default", "preserve"]))
            } else if name == "xml:id" {
                identifiers += 1
                writeAttribute(name, "i\(identifiers)")
            } else {
                writeAttribute(name, nil)
            }
        }
    }
}

// MARK: - Values and text

extension RandomStream {
    private static let valuePieces = [
        "1", "value", " ", "  ", "\t", "\n", "\r\n", "\r", "&#9;", "&#xA;", "&#13;", "&#32;", "&lt;", "&amp;", "&quot;",
        "&apos;", "&gt;", ">", "]]>", "\u{E9}", "漢", "😀", "&#x1F600;", "&#233;", "\u{FFFD}", "e\u{301}", "/", "=",
        String(repeating: "long \u{E9} ", count: 60),
    ]
    private static let textPieces = [
        "text", " ", "\n", "\t", "\r\n", "\r", "\r\r\n", "&amp;", "&lt;", "&gt;", "&quot;", "&apos;", "&#65;", "&#x20;",
        "&#13;", "&#xA;", "&#9;", "&#128512;", "&#x10FFFD;", "\u{E9}", "漢字", "😀", "\u{85}", "\u{2028}", "\u{A0}",
        "\u{E000}", "]]", "]", ">", "'", "\"", "=", "<![CDATA[<&>]]>", "<![CDATA[]]]]>", "<![CDATA[]]>",
        "<![CDATA[\r\n&amp;]]>", "<![CDATA[]]]]><![CDATA[>]]>", "<![CDATA[<a>😀</a>\r]]>",
        "<![CDATA[" + String(repeating: "abcde\r\n", count: 80) + "]]>",
        String(repeating: "long ", count: 80), String(repeating: "l\u{E9}ng 漢 ", count: 40),
    ]

    /// Writes an attribute; without a value, writes a random value.
    private mutating func writeAttribute(_ name: String, _ value: String?) {
        put(anyOf: RandomStream.spaces)
        put(name)
        if random.chance(10) { put(anyOf: RandomStream.spaces) }
        put("=")
        if random.chance(10) { put(anyOf: RandomStream.spaces) }
        let quote = random.chance(50) ? "'" : "\""
        put(quote)
        if let value {
            put(value)
        } else {
            for _ in 0..<random.below(4) {
                let isLong = random.chance(2)
                put(isLong ? RandomStream.valuePieces.last ?? "" : random.pick(RandomStream.valuePieces.dropLast()))
            }
            if random.chance(20) { put(quote == "'" ? "\"" : "'") }
        }
        put(quote)
    }

    private mutating func writeContent(_ scope: Scope, depth: Int) {
        for _ in 0..<random.below(6) {
            if depth < 5, elements < 8, random.chance(45) {
                writeElement(scope, depth: depth + 1)
                continue
            }
            let isLong = random.chance(3)
            let piece = random.pick(isLong ? RandomStream.textPieces.suffix(3) : RandomStream.textPieces.dropLast(3))
            // Two pieces must not make a "]]>".
            let isEnd = bytes.last == UInt8(ascii: "]") && (piece.hasPrefix("]") || piece.hasPrefix(">"))
            put(isEnd ? "-" : piece)
        }
    }
}
