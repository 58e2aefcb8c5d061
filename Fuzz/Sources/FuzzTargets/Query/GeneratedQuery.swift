import KalijXML

/// A query built by an input's bytes: parts for the reference, a text for the compiler.
struct GeneratedQuery {
    enum Way { case children, parent, itself }
    enum Namespace: Equatable {
        case same, any
        case exactly(String)
    }

    struct Filter {
        var attribute: String
        /// The filter's text: the operator and the value.
        var written: String
        var passes: (String) -> Bool
    }

    struct Step {
        var way = Way.children
        var namespace = Namespace.same
        /// nil for any name.
        var name: String?
        var isNegated = false
        var filters: [Filter] = []
        /// The segment's text.
        var written = ""
    }

    enum Extraction: Equatable {
        case element, text, name, attributes
        case attribute(String)
    }

    private(set) var isRooted: Bool
    private(set) var steps: [Step] = []
    private(set) var extraction = Extraction.element
    private(set) var conversion: String?
    /// The values of the `%` specifiers.
    private(set) var arguments: [String] = []

    init(_ source: inout ByteSource) {
        isRooted = source.oneIn(2)
        for place in 0...source.number(below: 4) {
            // "/.." is "..": the first way up is from the element asked.
            if source.oneIn(4), place > 0 || !isRooted {
                steps.append(Step(way: .parent))
            } else {
                let isAfterParent = steps.last?.way == .parent
                steps.append(segment(&source, way: isAfterParent && source.oneIn(2) ? .itself : .children))
            }
        }
        chooseExtraction(&source)
    }

    private mutating func chooseExtraction(_ source: inout ByteSource) {
        extraction =
            switch source.number(below: 6) {
            case 0: .text
            case 1: .name
            case 2: .attributes
            case 3: .attribute(source.pick(RandomTree.attributes + ["xmlns"]))
            default: .element
            }
        // An extraction follows a segment, perhaps an empty segment.
        if extraction != .element, steps.last?.way == .parent {
            steps.append(Step(way: source.oneIn(2) ? .itself : .children, namespace: .any))
        }
        if extraction != .element, extraction != .attributes, source.oneIn(3) {
            conversion = source.pick(["bool", "int", "uint", "double", "datetime", "base64", "uuid", "uuidcast"])
        }
    }

    private mutating func segment(_ source: inout ByteSource, way: Way) -> Step {
        var step = Step(way: way)
        switch source.number(below: 4) {
        case 0: step.namespace = .any
        case 1: step.namespace = .exactly(source.pick(RandomTree.namespaces))
        default: break
        }
        switch step.namespace {
        case .same: break
        case .any: step.written = "{*}"
        case .exactly(let namespace): step.written = "{\(namespace)}"
        }
        switch source.number(below: 5) {
        case 0: step.written += "*"
        case 1 where step.namespace != .same: break
        default:
            step.isNegated = source.oneIn(5)
            let name = source.pick(RandomTree.names)
            step.name = name
            step.written += (step.isNegated ? "!" : "") + name
        }
        while source.oneIn(4), step.filters.count < 3 {
            let filter = filter(&source)
            step.filters.append(filter)
            step.written += "<\(filter.attribute)\(filter.written)>"
        }
        return step
    }

    private mutating func filter(_ source: inout ByteSource) -> Filter {
        let attribute = source.pick(RandomTree.attributes + ["xmlns"])
        switch source.number(below: 4) {
        case 0:
            let value = source.pick(RandomTree.values.filter { !$0.isEmpty } + ["50%"])
            let written = "=" + value.split(separator: "%", omittingEmptySubsequences: false).joined(separator: "%%")
            return Filter(attribute: attribute, written: written) { $0 == value }
        case 1:
            let value = source.oneIn(2) ? source.text() : source.pick(RandomTree.values)
            arguments.append(value)
            return Filter(attribute: attribute, written: "=%@") { $0.utf8.elementsEqual(value.utf8) }
        default: return Filter(attribute: attribute, expression: source.pick(GeneratedQuery.expressions))
        }
    }

    /// Regular expressions, each with the same in plain Swift.
    private static let expressions: [(String, @Sendable (String) -> Bool)] = [
        ("", { _ in true }), ("^$", { $0.isEmpty }), ("^1", { $0.utf8.first == 0x31 }),
        ("x$", { $0.utf8.last == 0x78 }), ("^.$", { $0.unicodeScalars.count == 1 }),
        ("[0-9]", { $0.utf8.contains { $0 >= 0x30 && $0 <= 0x39 } }),
        ("^(?i)TRUE$", { ["t", "T"].contains($0.prefix(1)) && $0.lowercased() == "true" }),
        ("\\x3E", { $0.utf8.contains(0x3E) }),
    ]

    /// The query as text.
    var text: String {
        var text = isRooted ? "/" : ""
        for (place, step) in steps.enumerated() {
            if place > 0 { text += step.way == .itself ? "//" : "/" }
            text += step.way == .parent ? ".." : step.written
        }
        switch extraction {
        case .element: break
        case .text: text += "#"
        case .name: text += "$"
        case .attributes: text += "@@"
        case .attribute(let name): text += "@" + name
        }
        return text + (conversion.map { "|" + $0 } ?? "")
    }
}

extension GeneratedQuery.Filter {
    fileprivate init(attribute: String, expression: (String, @Sendable (String) -> Bool)) {
        self.init(attribute: attribute, written: "~" + expression.0, passes: expression.1)
    }
}
