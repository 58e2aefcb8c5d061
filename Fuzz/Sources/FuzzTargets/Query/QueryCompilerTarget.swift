import KalijXML

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Compiles any text as a query, for every type of result.
///
/// Checked: nothing traps, an error's column is in the text or one past, and a query that compiles does so for the
/// types of its kind, with exactly its number of arguments.
func fuzzQueryCompiler(_ input: UnsafeRawBufferPointer) throws {
    let text = String(decoding: input, as: UTF8.self)
    let count: Int
    do {
        count = try Query<QueryResult>.specifiers(in: text)
    } catch {
        return try requirePlace(error, in: text)
    }
    try require(!text.utf8.contains(0), "a query with U+0000 compiled: \(text)")
    let arguments = [String](repeating: "v>%@", count: count)
    guard let kind = compiles(text, arguments, QueryResult.self) else {
        throw Finding(description: "compiled once, but not with \(count) arguments: \(text)")
    }
    try requireTypes(text, arguments, kind)
    try require(compiles(text, arguments + [""], QueryResult.self) == nil, "took too many arguments: \(text)")
    if count > 0 {
        try require(compiles(text, [], QueryResult.self) == nil, "took too few arguments: \(text)")
    }
}

private func compiles<R: QueryValue>(_ text: String, _ arguments: [String], _: R.Type) -> QueryKind? {
    try? Query<R>(parsing: text, arguments: arguments).kind
}

private func requirePlace(_ error: QuerySyntaxError, in text: String) throws {
    try require(
        (1...(text.count + 1)).contains(error.column) && !error.problem.isEmpty, "a place that is none: \(error)")
}

private func requireTypes(_ text: String, _ arguments: [String], _ kind: QueryKind) throws {
    let types: [any QueryValue.Type] = [
        Element.self, [String: String].self, String.self, Bool.self, Int.self, UInt.self, Double.self, Date.self,
        [UInt8].self, Data.self, UUID.self, DataForm.self, DataForm.Field.self,
    ]
    for type in types { try requireType(text, arguments, kind, type) }
}

private func requireType<R: QueryValue>(
    _ text: String, _ arguments: [String], _ kind: QueryKind, _ type: R.Type
) throws {
    do {
        let query = try Query<R>(parsing: text, arguments: arguments)
        try require(R.isGiven(by: kind) && query.kind == kind, "\(kind) compiled for \(type): \(text)")
    } catch let error as QuerySyntaxError {
        try require(!R.isGiven(by: kind), "\(kind) did not compile for \(type): \(error)")
        try requirePlace(error, in: text)
    }
}
