/// The result of a query.
enum Answer: Equatable {
    case nothing
    case element(Int)
    case text([UInt8])

    /// The form in messages about differences.
    var shown: String {
        switch self {
        case .nothing: "nothing"
        case .element(let number): "element \(number)"
        case .text(let bytes): "\"\(String(decoding: bytes, as: UTF8.self))\""
        }
    }
}

/// The rules of Prosody's `stanza:find` that differ from ours. With none of the rules, ``answer(_:asked:)`` is
/// KalijXML's meaning of a query; with all of the rules, Prosody's.
struct FindRules: OptionSet, Hashable {
    var rawValue: UInt8

    /// Of several matching children, only the first, whatever the rest of the path gives.
    static let firstOnly = FindRules(rawValue: 1)
    /// `name/@attr` reads the attribute of `name` itself; ours, of the children.
    static let slashOwn = FindRules(rawValue: 2)
    /// `name/#` looks at children in the namespace of `name`; ours, in any.
    static let slashSameSpace = FindRules(rawValue: 4)
    /// `#` of an element with child elements is nil.
    static let noTextBeside = FindRules(rawValue: 8)
    /// `#` of an empty element is "".
    static let emptyText = FindRules(rawValue: 16)
    /// Elements of the stream's own namespace, inside only such elements, have no namespace to ask for.
    static let streamSpace = FindRules(rawValue: 32)
    /// `@xmlns` of an element without any namespace is "".
    static let emptySpace = FindRules(rawValue: 64)
    /// An attribute of a namespace is not known as `{namespace}name`.
    static let foreignAttribute = FindRules(rawValue: 128)

    static let names: [(FindRules, String)] = [
        (.firstOnly, "first child only"), (.slashOwn, "name/@attr is name's own"),
        (.slashSameSpace, "name/# in name's namespace only"), (.noTextBeside, "# beside child elements is nil"),
        (.emptyText, "# of an empty element is \"\""), (.streamSpace, "the stream's namespace is no namespace"),
        (.emptySpace, "no namespace is \"\""), (.foreignAttribute, "no name for attributes of a namespace"),
    ]

    static let all = names.reduce(into: FindRules()) { $0.insert($1.0) }

    /// Every set of rules, small ones first.
    static let sets = (0...UInt8.max).map { FindRules(rawValue: $0) }
        .sorted { ($0.rawValue.nonzeroBitCount, $0.rawValue) < ($1.rawValue.nonzeroBitCount, $1.rawValue) }

    var name: String {
        FindRules.names.filter { contains($0.0) }.map(\.1).joined(separator: " + ")
    }
}

// MARK: - Evaluation

extension FindRules {
    func answer(_ query: FindQuery, asked: Model) -> Answer {
        walk(query, 0, asked) ?? .nothing
    }

    /// The first answer below `element` with the steps from `place` on, nil if there is none.
    private func walk(_ query: FindQuery, _ place: Int, _ element: Model) -> Answer? {
        if place == query.steps.count { return take(query.end, element) }
        for child in element.children where matches(query.steps[place], child, of: element) {
            if let answer = walk(query, place + 1, child) { return answer }
            if contains(.firstOnly) { return nil }
        }
        return nil
    }

    private func matches(_ step: FindQuery.Step, _ child: Model, of parent: Model) -> Bool {
        if let name = step.name, !same(name, child.name) { return false }
        guard let wanted = step.namespace else { return same(child.namespace, parent.namespace) }
        return same(wanted, space(child))
    }

    /// The namespace to ask for the element by.
    private func space(_ element: Model) -> String? {
        contains(.streamSpace) && isOfStream(element) ? nil : element.namespace
    }

    private func isOfStream(_ element: Model) -> Bool {
        same(element.namespace, client) && (element.parent.map(isOfStream) ?? true)
    }

    private func take(_ end: FindQuery.End, _ element: Model) -> Answer? {
        switch end {
        case .element: return .element(element.number)
        case .text(afterSlash: false): return text(element)
        case .attribute(let namespace, let name, let afterSlash):
            if !afterSlash || contains(.slashOwn) { return value(namespace, name, element) }
            return first(element.children) { value(namespace, name, $0) }
        case .text(afterSlash: true):
            let children = element.children.filter {
                !contains(.slashSameSpace) || same($0.namespace, element.namespace)
            }
            return first(children) { text($0) }
        }
    }

    private func first(_ children: [Model], _ take: (Model) -> Answer?) -> Answer? {
        for child in children {
            if let answer = take(child) { return answer }
            if contains(.firstOnly) { return nil }
        }
        return nil
    }

    private func text(_ element: Model) -> Answer? {
        if contains(.noTextBeside), !element.children.isEmpty { return nil }
        let text = element.text
        return text.isEmpty && !contains(.emptyText) ? nil : .text(text)
    }

    private func value(_ namespace: String?, _ name: String, _ element: Model) -> Answer? {
        if namespace == nil, name == "xmlns" {
            if contains(.streamSpace), isOfStream(element) { return nil }
            let value = element.namespace ?? (contains(.emptySpace) ? "" : nil)
            return value.map { .text(Array($0.utf8)) }
        }
        if contains(.foreignAttribute), let namespace {
            guard namespace == xmlNamespace, FindQuery.xmlNames.contains(name) else { return nil }
        }
        for attribute in element.attributes where same(attribute.name, name) && same(attribute.namespace, namespace) {
            return .text(Array(attribute.value.utf8))
        }
        return nil
    }
}
