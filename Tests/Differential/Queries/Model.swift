import TestSupport

/// An element as known to the test, before any parser: the rules are applied to this model, so neither parser is its
/// own judge.
final class Model {
    struct Attribute {
        /// nil for an attribute without a prefix.
        var namespace: String?
        var name: String
        var value: String
    }

    enum Piece {
        case text(String)
        case element(Model)
    }

    let name: String
    /// nil for no namespace.
    let namespace: String?
    let parent: Model?
    /// The place in document order below the asked element, which is 0.
    let number: Int
    var attributes: [Attribute] = []
    var pieces: [Piece] = []
    var children: [Model] = []

    init(name: String, namespace: String?, parent: Model?, number: Int) {
        (self.name, self.namespace, self.parent, self.number) = (name, namespace, parent, number)
    }

    /// The own text, without the children's.
    var text: [UInt8] {
        var result: [UInt8] = []
        for case .text(let piece) in pieces { result.append(contentsOf: piece.utf8) }
        return result
    }
}

/// Swift's own `==` holds two spellings of a character for the same; a query does not.
func same(_ left: String?, _ right: String?) -> Bool {
    guard let left, let right else { return left == nil && right == nil }
    return left.utf8.elementsEqual(right.utf8)
}

let xmlNamespace = "http://www.w3.org/XML/1998/namespace"
let client = "jabber:client"

/// The words of trees and queries. Only a few, so a query often meets the same name twice.
enum Words {
    static let names = ["a", "a", "a", "b", "b", "c", "item", "body", "\u{E9}-x._1", "e\u{301}", "漢"]
    static let namespaces = [
        client, client, "urn:a", "urn:a", "urn:xmpp:b:1", "http://jabber.org/protocol/c#d", "urn:e@f", "vcard-temp",
    ]
    static let attributes: [(namespace: String?, name: String)] = [
        (nil, "id"), (nil, "type"), (nil, "jid"), (nil, "a"), (nil, "\u{E9}"), (nil, "e\u{301}"), (nil, "lang"),
        (xmlNamespace, "lang"), (xmlNamespace, "base"), (xmlNamespace, "other"), ("urn:a", "id"), ("urn:p", "id"),
        ("http://p/q#r", "type"),
    ]
    static let values = ["1", "1", "", "get", "a@b/c", "v#1 ", "<'\">&", "tab\tline\nend", "\u{E9}😀", "\r", "true"]
    static let texts = ["x", "text", " ", "\n  ", "<&>", "]]>", "\u{E9}😀", "a\tb", "\r\n", "1"]
}

/// Makes trees: a few levels, a few children, repeated names, changing namespaces.
struct TreeMaker {
    var count = 0

    mutating func tree(_ random: inout Seeded) -> Model {
        count = 0
        return element(nil, depth: 0, &random)
    }

    private mutating func element(_ parent: Model?, depth: Int, _ random: inout Seeded) -> Model {
        var namespace = parent?.namespace
        if parent == nil || random.chance(35) { namespace = random.chance(4) ? nil : random.pick(Words.namespaces) }
        let result = Model(name: random.pick(Words.names), namespace: namespace, parent: parent, number: count)
        count += 1
        if random.chance(70) { addAttributes(result, &random) }
        let most = depth == 0 ? 5 : 4 - depth
        let children = most > 0 && count < 24 ? random.below(most + 1) : 0
        if random.chance(50) { result.pieces.append(.text(random.pick(Words.texts))) }
        for _ in 0..<children {
            let child = element(result, depth: depth + 1, &random)
            result.children.append(child)
            result.pieces.append(.element(child))
            if random.chance(25) { result.pieces.append(.text(random.pick(Words.texts))) }
        }
        return result
    }

    private func addAttributes(_ element: Model, _ random: inout Seeded) {
        for _ in 0...random.below(3) {
            let (namespace, name) = random.pick(Words.attributes)
            if element.attributes.contains(where: { same($0.name, name) && same($0.namespace, namespace) }) { continue }
            element.attributes.append(
                Model.Attribute(namespace: namespace, name: name, value: random.pick(Words.values)))
        }
    }
}
