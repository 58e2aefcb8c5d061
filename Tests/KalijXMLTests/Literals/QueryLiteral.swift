import Foundation

@testable import KalijXML

/// A query literal in Swift source, as understood by the compiler.
struct QueryLiteral: Hashable {
    var file: String
    var line: Int
    /// In bytes, from 1, as compilers count.
    var column: Int
    /// The text between the interpolated values.
    var pieces: [String]
    /// The mangled name of the query's type.
    var type: String
    /// How many arguments the surrounding call passes on; nil without a call.
    var arguments: Int?

    /// The mangled beginning of the names of all types `Query<...>`.
    static let queryType = "8KalijXML5QueryVy"

    /// The error in the query; nil if the query compiles with its type.
    var problem: String? {
        let bytes = pieces.map { Array($0.utf8) }.joined(separator: [QueryParser.hole])
        let program: Program
        do {
            program = try QueryParser.compile(Array(bytes), interning: false)
        } catch {
            return "\(error)"
        }
        // In generic code the type is known only at run time.
        if let type = _typeByName(type) as? any QueryValue.Type, !type.isGiven(by: program.kind) {
            return "query \"\(program.source)\" gives \(program.kind.rawValue), not \(type)"
        }
        if let arguments, arguments != program.arguments {
            return "query \"\(program.source)\" takes \(program.arguments) arguments, not \(arguments)"
        }
        return nil
    }

    /// The files of a module that name the type of queries, or call a function that takes one: only there a literal can become a query.
    /// For all files the compiler takes two minutes.
    private static func files(of module: SourceModule) throws -> [String] {
        let functions = Repository.queryFunctions.union(Repository.functions(in: module.files))
        return try module.files.filter { file in
            let text = try String(contentsOfFile: file, encoding: .utf8)
            return text.contains(/Query\W/)
                || text.matches(of: /(\w+)\s*\(/).contains { functions.contains(String($0.1)) }
        }
    }

    /// All query literals of a module.
    /// - Parameter isThorough: whether all files are looked at.
    static func all(in module: SourceModule, isThorough: Bool = false) throws -> [QueryLiteral] {
        let files = try isThorough ? module.files : files(of: module)
        let trees = try Compiler.syntaxTrees(of: module, files: files, mentioning: queryType)
        return try zip(files, trees).flatMap { file, tree in
            var search = LiteralSearch(file: file, source: Array(try Data(contentsOf: URL(filePath: file))))
            search.visit(tree)
            return search.literals
        }
    }
}

/// Looks for query literals in the compiler's syntax tree of a file.
private struct LiteralSearch {
    let file: String
    let source: [UInt8]
    private(set) var literals: [QueryLiteral] = []
    private var places: [Int: Int] = [:]

    init(file: String, source: [UInt8]) {
        self.file = file
        self.source = source
    }

    mutating func visit(_ node: Any) {
        if let nodes = node as? [Any] {
            for node in nodes { visit(node) }
        } else if let node = node as? [String: Any] {
            if node["_kind"] as? String == "argument_list" { visit(arguments: node) }
            if Self.asks(node) { visit(question: node) }
            add(node, arguments: nil)
            for (_, child) in node { visit(child) }
        }
    }

    /// A query that is the first of a call's arguments, followed by the arguments for its `%` specifiers.
    private mutating func visit(arguments list: [String: Any]) {
        let arguments = (list["args"] as? [[String: Any]] ?? []).compactMap { $0["expr"] as? [String: Any] }
        guard arguments.count > 1, arguments[1]["_kind"] as? String == "vararg_expansion_expr" else { return }
        let values = (arguments[1]["sub_expr"] as? [String: Any])?["elements"] as? [Any]
        add(arguments[0], arguments: values?.count ?? 0)
    }

    /// A call of a method with a query, without arguments for `%` specifiers.
    private mutating func visit(question call: [String: Any]) {
        let arguments = (call["args"] as? [String: Any])?["args"] as? [[String: Any]] ?? []
        guard let query = arguments.first?["expr"] as? [String: Any],
            !arguments.contains(where: {
                ($0["expr"] as? [String: Any])?["_kind"] as? String == "vararg_expansion_expr"
            })
        else { return }
        add(query, arguments: 0)
    }

    private static func asks(_ node: [String: Any]) -> Bool {
        let callee = (node["fn"] as? [String: Any])?["fn"] as? [String: Any]
        let name = (callee?["decl"] as? [String: Any])?["base_name"] as? String ?? ""
        return ["find", "findFirst", "check", "withFirst", "withEach"].contains(name)
    }

    private mutating func add(_ node: [String: Any], arguments: Int?) {
        guard let (type, pieces) = Self.literal(node), let range = node["range"] as? [String: Any],
            // A macro's expansion of its arguments; the arguments are in the tree themselves, too.
            range["buffer_id"] == nil, let offset = range["start"] as? Int, offset < source.count
        else { return }
        if let place = places[offset] {
            literals[place].arguments = literals[place].arguments ?? arguments
            return
        }
        let before = source[..<offset]
        let lineStart = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        let lineEnd = source[offset...].firstIndex(of: UInt8(ascii: "\n")) ?? source.count
        if String(decoding: source[lineStart..<lineEnd], as: UTF8.self).contains("// wrong on purpose") { return }
        places[offset] = literals.count
        literals.append(
            QueryLiteral(
                file: file, line: before.count { $0 == UInt8(ascii: "\n") } + 1, column: offset - lineStart + 1,
                pieces: pieces, type: type, arguments: arguments))
    }

    /// The result type and the pieces of a query literal's node.
    private static func literal(_ node: [String: Any]) -> (type: String, pieces: [String])? {
        guard (node["type"] as? String)?.hasPrefix("$s" + QueryLiteral.queryType) == true else { return nil }
        switch node["_kind"] as? String {
        case "string_literal_expr":
            guard let value = node["value"] as? String, let type = resultType(node["initializer"]) else { return nil }
            return (type, [value])
        case "interpolated_string_literal_expr":
            guard let type = resultType(node["result_init"]) else { return nil }
            let tap = node["appending_expr"] as? [String: Any]
            let statements = (tap?["body"] as? [String: Any])?["elements"] as? [Any] ?? []
            return (type, pieces(statements))
        default: return nil
        }
    }

    /// The type of the generic parameter of `Query`, without the marks of a whole mangled name.
    private static func resultType(_ initializer: Any?) -> String? {
        let map = (initializer as? [String: Any])?["substitutions"] as? [String: Any]
        let first = (map?["substitutions"] as? [[String: Any]])?.first
        guard let mangled = first?["replacement_type"] as? String, mangled.hasPrefix("$s") else { return nil }
        return String(mangled.dropFirst(2).dropLast())
    }

    private static func pieces(_ statements: [Any]) -> [String] {
        var pieces = [""]
        for case let statement as [String: Any] in statements {
            switch appended(statement) {
            case .literal(let text): pieces[pieces.count - 1] += text
            case .value: pieces.append("")
            case nil: break
            }
        }
        return pieces
    }

    private enum Appended { case literal(String), value }

    /// The appended part of a statement, perhaps inside a `try`.
    private static func appended(_ statement: [String: Any]) -> Appended? {
        let callee = (statement["fn"] as? [String: Any])?["fn"] as? [String: Any]
        switch (callee?["decl"] as? [String: Any])?["base_name"] as? String {
        case "appendLiteral":
            let arguments = (statement["args"] as? [String: Any])?["args"] as? [[String: Any]]
            return ((arguments?.first?["expr"] as? [String: Any])?["value"] as? String).map(Appended.literal)
        case "appendInterpolation": return .value
        default: return (statement["sub_expr"] as? [String: Any]).flatMap(appended)
        }
    }
}
