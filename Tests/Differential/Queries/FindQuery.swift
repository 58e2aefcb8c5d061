import TestSupport

/// A query of Prosody's language: steps, and the value to take at the last.
struct FindQuery {
    struct Step {
        var namespace: String?
        /// nil for any name.
        var name: String?
    }

    enum End {
        case element
        /// `#`, or `/#`.
        case text(afterSlash: Bool)
        /// `@name`, or `/@name`.
        case attribute(namespace: String?, name: String, afterSlash: Bool)
    }

    var steps: [Step] = []
    var end = End.element

    /// The query in our language.
    var text: String { path + ending { $0 == xmlNamespace ? "xml:" + $1 : "{\($0)}" + $1 } }

    /// The query for Prosody; Prosody stores an attribute of a namespace under another name.
    var translated: String { path + ending { known($0, $1) ?? $0 + "\u{1}" + $1 } }

    private func known(_ namespace: String, _ name: String) -> String? {
        namespace == xmlNamespace && FindQuery.xmlNames.contains(name) ? "xml:" + name : nil
    }

    /// The four names of the XML namespace known to Prosody's stream parser.
    static let xmlNames = ["lang", "space", "base", "id"]

    private var path: String {
        steps.map { step in (step.namespace.map { "{\($0)}" } ?? "") + (step.name ?? "") }.joined(separator: "/")
    }

    private func ending(_ qualified: (String, String) -> String) -> String {
        switch end {
        case .element: ""
        case .text(let afterSlash): afterSlash ? "/#" : "#"
        case .attribute(let namespace, let name, let afterSlash):
            (afterSlash ? "/@" : "@") + (namespace.map { qualified($0, name) } ?? name)
        }
    }
}

extension FindQuery {
    /// A query about a tree: mostly a query with an answer, some changed a little, and some without any relation to the
    /// tree.
    static func random(for tree: Model, _ random: inout Seeded) -> FindQuery {
        var query = FindQuery()
        var place = tree
        if random.chance(85) {
            let levels = random.below(4) + (random.chance(80) ? 1 : 0)
            while query.steps.count < levels, !place.children.isEmpty {
                place = random.pick(place.children)
                query.steps.append(step(to: place, &random))
            }
            query.end = end(at: place, isStep: !query.steps.isEmpty, &random)
            if random.chance(20) { query.change(&random) }
        } else {
            for _ in 0..<random.below(4) { query.steps.append(anyStep(&random)) }
            query.end = end(at: place, isStep: !query.steps.isEmpty, &random)
        }
        query.repair(&random)
        return query
    }

    private static func step(to element: Model, _ random: inout Seeded) -> Step {
        let differs = !same(element.namespace, element.parent?.namespace)
        let namespace = differs || random.chance(30) ? element.namespace : nil
        return Step(namespace: namespace, name: namespace != nil && random.chance(10) ? nil : element.name)
    }

    private static func anyStep(_ random: inout Seeded) -> Step {
        let namespace = random.chance(50) ? random.pick(Words.namespaces) : nil
        return Step(namespace: namespace, name: namespace != nil && random.chance(15) ? nil : random.pick(Words.names))
    }

    private static func end(at element: Model, isStep: Bool, _ random: inout Seeded) -> End {
        let afterSlash = isStep && random.chance(6)
        switch random.below(10) {
        case 0..<3 where isStep: return .element
        case 3..<6 where !element.text.isEmpty || random.chance(30): return .text(afterSlash: afterSlash)
        case 3..<5 where isStep: return .element
        default:
            if random.chance(10) { return .attribute(namespace: nil, name: "xmlns", afterSlash: afterSlash) }
            let owner = afterSlash && random.chance(50) ? element.children.first ?? element : element
            if random.chance(85), !owner.attributes.isEmpty {
                let attribute = random.pick(owner.attributes)
                return .attribute(namespace: attribute.namespace, name: attribute.name, afterSlash: afterSlash)
            }
            let (namespace, name) = random.pick(Words.attributes)
            return .attribute(namespace: namespace, name: name, afterSlash: afterSlash)
        }
    }

    private mutating func change(_ random: inout Seeded) {
        guard !steps.isEmpty else { return }
        let place = random.below(steps.count)
        switch random.below(5) {
        case 0: steps[place].name = random.pick(Words.names)
        case 1: steps[place].namespace = random.pick(Words.namespaces)
        case 2: steps[place].namespace = nil
        case 3: steps.remove(at: place)
        default: steps.insert(FindQuery.anyStep(&random), at: place)
        }
    }

    /// Removes the parts that exist in only one of the two languages: the empty query, an empty step that is not the
    /// whole path.
    private mutating func repair(_ random: inout Seeded) {
        for place in steps.indices where steps[place].namespace == nil && steps[place].name == nil {
            steps[place].name = random.pick(Words.names)
        }
        guard steps.isEmpty else { return }
        switch end {
        case .attribute(let namespace, let name, _):
            end = .attribute(namespace: namespace, name: name, afterSlash: false)
        case .text:
            // "#" alone: the text of any child in the same namespace.
            steps = [Step()]
            end = .text(afterSlash: false)
        case .element: steps = [FindQuery.anyStep(&random)]
        }
    }
}
