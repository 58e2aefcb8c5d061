import KalijXML

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Runs queries on trees. The first line of the input is a query in text; for an empty line, the bytes build a query
/// with the answer of a reference. The rest builds the tree.
///
/// Also checked: `find`, `findFirst`, `check` and `withFirst` agree with each other, and a tree written and read gives
/// the same answers.
func fuzzQueryEvaluation(_ input: UnsafeRawBufferPointer) throws {
    var source = ByteSource(input)
    let line = source.line()
    if line.isEmpty { return try fuzzGeneratedQuery(&source) }
    guard let count = try? Query<QueryResult>.specifiers(in: line), count < 20 else { return }
    let arguments = (0..<count).map { RandomTree.values[$0 % RandomTree.values.count] }
    guard let query = try? Query<QueryResult>(parsing: line, arguments: arguments) else { return }
    let tree = RandomTree(&source, most: 24)
    let asked = tree.element(&source)
    _ = try agreedResults(query, asked, line)
    try requireTypedResults(query.kind, line, arguments, asked)
}

private func fuzzGeneratedQuery(_ source: inout ByteSource) throws {
    let generated = GeneratedQuery(&source)
    let tree = RandomTree(&source)
    let asked = tree.element(&source)
    let (text, arguments) = (generated.text, generated.arguments)
    let query: Query<QueryResult>
    do {
        query = try Query(parsing: text, arguments: arguments)
    } catch {
        throw Finding(description: "a query of the grammar does not compile: \(error)")
    }
    let results = try agreedResults(query, asked, text)
    try compare(results, ReferenceEvaluator(query: generated), asked, text)
    try requireTypedResults(query.kind, text, arguments, asked)
    try requireBoundValues(&source, asked)
    if asked.parent == nil {
        let twin = try Element.parse(asked.bytes())
        let again = try agreedResults(query, twin, text)
        try require(again == results, "\(text): \(results) before writing and reading \(asked), after \(again)")
    }
}

/// The results of a query; all ways to ask agree.
private func agreedResults(
    _ query: Query<QueryResult>, _ asked: Element, _ text: String
) throws -> [QueryResult] {
    let results = asked.find(query)
    let first = asked.findFirst(query)
    try require(first == results.first, "\(text): find \(results), findFirst \(String(describing: first)) in \(asked)")
    try require(asked.check(query) == !results.isEmpty, "\(text): find \(results), but not check, in \(asked)")
    return results
}

private func compare(
    _ results: [QueryResult], _ reference: ReferenceEvaluator, _ asked: Element, _ text: String
) throws {
    let elements = reference.elements(from: asked)
    if let texts = reference.texts(elements) {
        let expected = texts.compactMap { text in
            reference.query.conversion.map { ReferenceEvaluator.converted(text, to: $0) } ?? text
        }
        guard ["bool", "int", "uint", "uuid", nil].contains(reference.query.conversion) else { return }
        let found = results.compactMap(shown)
        return try require(found == expected, "\(text): \(found), expected \(expected), in \(asked)")
    }
    try require(elements.count == results.count, "\(text): \(results), expected \(elements), in \(asked)")
    for (element, result) in zip(elements, results) {
        let isRight =
            switch result {
            case .element(let found): found.isSame(as: element)
            case .attributes(let found): found == element.attributes
            default: false
            }
        try require(isRight, "\(text): \(result), expected \(element), in \(asked)")
    }
}

private func shown(_ result: QueryResult) -> String? {
    switch result {
    case .text(let text): text
    case .bool(let value): "\(value)"
    case .int(let value): "\(value)"
    case .uint(let value): "\(value)"
    case .uuid(let value): "\(value)"
    default: nil
    }
}

/// The query gives as many results of its own type.
private func requireTypedResults(
    _ kind: QueryKind, _ text: String, _ arguments: [String], _ asked: Element
) throws {
    switch kind {
    case .element: try requireCount(Element.self, text, arguments, asked)
    case .attributes: try requireCount([String: String].self, text, arguments, asked)
    case .text:
        try requireCount(String.self, text, arguments, asked)
        let query = try Query<String>(parsing: text, arguments: arguments)
        let lent = asked.withFirst(query) { String(decoding: $0, as: UTF8.self) }
        try require(lent == asked.findFirst(query), "\(text): lent \(lent ?? "-") of \(asked)")
    case .bool: try requireCount(Bool.self, text, arguments, asked)
    case .int: try requireCount(Int.self, text, arguments, asked)
    case .uint: try requireCount(UInt.self, text, arguments, asked)
    case .double: try requireCount(Double.self, text, arguments, asked)
    case .datetime: try requireCount(Date.self, text, arguments, asked)
    case .base64:
        try requireCount([UInt8].self, text, arguments, asked)
        try requireCount(Data.self, text, arguments, asked)
    case .uuid: try requireCount(UUID.self, text, arguments, asked)
    case .form: try requireCount(DataForm.self, text, arguments, asked)
    case .field: try requireCount(DataForm.Field.self, text, arguments, asked)
    }
}

private func requireCount<R: QueryValue>(
    _: R.Type, _ text: String, _ arguments: [String], _ asked: Element
) throws {
    let typed = try Query<R>(parsing: text, arguments: arguments)
    let untyped = try Query<QueryResult>(parsing: text, arguments: arguments)
    let count = asked.find(typed).count
    try require(count == asked.find(untyped).count, "\(text): \(count) results of type \(R.self) in \(asked)")
    try require(asked.check(typed) == (count > 0), "\(text): check of type \(R.self) in \(asked)")
    try require((asked.findFirst(typed) != nil) == (count > 0), "\(text): findFirst of type \(R.self) in \(asked)")
}

/// A value means the same interpolated, as an argument of the call and as an argument of the text.
private func requireBoundValues(_ source: inout ByteSource, _ asked: Element) throws {
    let value = source.oneIn(2) ? source.text() : source.pick(RandomTree.values)
    let interpolated: [Element] = asked.find("{*}*<x=\(value)>")
    let called: [Element] = asked.find("{*}*<x=%@>", value)
    let parsed = asked.find(try Query<Element>(parsing: "{*}*<x=%@>", arguments: [value]))
    let expected = asked.children.filter { $0["x"]?.utf8.elementsEqual(value.utf8) == true }
    for found in [interpolated, called, parsed] {
        try require(
            found.count == expected.count && zip(found, expected).allSatisfy { $0.isSame(as: $1) },
            "x=\(value): \(found), expected \(expected), in \(asked)")
    }
}
