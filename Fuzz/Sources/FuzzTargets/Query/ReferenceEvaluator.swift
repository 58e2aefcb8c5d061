import KalijXML

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Evaluates queries in the slow and obvious way, with the public properties of elements only.
struct ReferenceEvaluator {
    private enum Place {
        case element(Element)
        /// The place above the root.
        case document(Element)
    }

    let query: GeneratedQuery

    /// The elements reached by the path.
    func elements(from asked: Element) -> [Element] {
        var level = [Place.element(asked)]
        for (number, step) in query.steps.enumerated() {
            let isOnItself = step.way == .itself || (number == 0 && query.isRooted && step.way == .children)
            var next: [Place] = []
            for place in level {
                for reached in isOnItself ? itself(place, step) : go(place, step)
                where !next.contains(where: { isSame($0, reached) }) { next.append(reached) }
            }
            level = next
        }
        return level.compactMap { if case .element(let element) = $0 { element } else { nil } }
    }

    /// The texts of the query, before a conversion; nil for a query without texts.
    func texts(_ elements: [Element]) -> [String]? {
        switch query.extraction {
        case .element, .attributes: nil
        case .text: elements.map(\.text).filter { !$0.isEmpty }
        case .name: elements.map(\.name)
        case .attribute(let name): elements.compactMap { $0[name] }
        }
    }

    /// The results of converting a text.
    static func converted(_ text: String, to conversion: String) -> String? {
        let space = Set(" \t\r\n".utf8)
        let bytes = text.utf8.drop { space.contains($0) }.reversed().drop { space.contains($0) }.reversed()
        let number = String(decoding: bytes, as: UTF8.self)
        switch conversion {
        case "bool": return ["true", "1"].contains(text) ? "true" : ["false", "0"].contains(text) ? "false" : nil
        case "int": return Int(number).map { "\($0)" }
        case "uint": return number.hasPrefix("-") ? nil : UInt(number).map { "\($0)" }
        case "uuid": return text.utf8.count == 36 ? UUID(uuidString: text).map { "\($0)" } : nil
        default: return text
        }
    }

    private func itself(_ place: Place, _ step: GeneratedQuery.Step) -> [Place] {
        guard case .element(let element) = place else { return [] }
        return matches(element, step, element.parent) ? [place] : []
    }

    private func go(_ place: Place, _ step: GeneratedQuery.Step) -> [Place] {
        switch (place, step.way) {
        case (.element(let element), .parent):
            return [element.parent.map(Place.element) ?? .document(element)]
        case (.document, .parent): return []
        case (.element(let element), _):
            return element.children.filter { matches($0, step, element) }.map(Place.element)
        case (.document(let root), _): return matches(root, step, nil) ? [.element(root)] : []
        }
    }

    private func matches(_ element: Element, _ step: GeneratedQuery.Step, _ parent: Element?) -> Bool {
        if let name = step.name, (element.name == name) == step.isNegated { return false }
        switch step.namespace {
        case .any: break
        case .same: if let parent, parent.namespace != element.namespace { return false }
        case .exactly(let namespace): if element.namespace != namespace { return false }
        }
        return step.filters.allSatisfy { filter in element[filter.attribute].map(filter.passes) ?? false }
    }

    private func isSame(_ left: Place, _ right: Place) -> Bool {
        switch (left, right) {
        case (.element(let left), .element(let right)), (.document(let left), .document(let right)):
            left.isSame(as: right)
        default: false
        }
    }
}
