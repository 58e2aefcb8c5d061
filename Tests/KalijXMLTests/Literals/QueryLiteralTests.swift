import Foundation
import TestSupport
import Testing

/// "`make lint` extracts and compiles every query literal with its result type."
///
/// A test compiles its own literals when it runs; the long form looks at the modules of tests, too.
@Suite struct QueryLiteralTests {
    @Test(
        "every query literal compiles with its type",
        arguments: Repository.modules.filter { LongForm.runs("query-literals") || !$0.folder.hasPrefix("Tests/") })
    func compile(_ module: SourceModule) throws {
        let literals = try QueryLiteral.all(in: module)
        if LongForm.runs("query-literals") {
            let everywhere = try QueryLiteral.all(in: module, isThorough: true)
            #expect(Set(everywhere) == Set(literals))
        }
        for literal in literals {
            guard let problem = literal.problem else { continue }
            let path = literal.file.dropFirst(Repository.root.count + 1)
            Issue.record(
                "\(path):\(literal.line):\(literal.column): \(problem)",
                sourceLocation: SourceLocation(
                    fileID: "\(module.name)/\((literal.file as NSString).lastPathComponent)", filePath: literal.file,
                    line: literal.line, column: literal.column))
        }
    }

    @Test("the modules with queries are checked")
    func modules() throws {
        let folders = Repository.modules.map(\.folder)
        for folder in [
            "Sources/KalijXML", "Sources/KalijCore", "Sources/KalijFeatures", "Sources/KalijEngine",
            "Tests/KalijXMLTests", "Benchmarks/Sources/query",
        ] {
            #expect(folders.contains(folder))
        }
    }

    /// Each line with its expected problem; none for correct lines.
    private let lines: [(code: String, problem: String?)] = [
        ("import KalijXML", nil),
        ("import Foundation", nil),
        ("import Testing", nil),
        ("enum Mine: QueryValue {", nil),
        ("    static func isGiven(by kind: QueryKind) -> Bool { kind == .text }", nil),
        ("    static func value(of match: QueryMatch) -> Mine? { nil }", nil),
        ("}", nil),
        ("func own(_ query: Query<String>) {}", nil),
        ("func generic<R: QueryValue>(_ e: Element, _ type: R.Type) -> [R] { e.find(\"generic//\") }", "column 9"),
        ("func example(_ e: Element, _ value: String, _ get: () throws -> String) throws {", nil),
        ("    _ = e.find(\"a/b#\") as [String]", nil),
        ("    _ = e.find(\"a//b#\") as [String]", "column 3"),
        ("    let date: Date? = e.findFirst(\"a@b|int\"); _ = date", "gives int, not Date"),
        ("    _ = \"é\"; _ = e.check(\"a<b=\\(value)>/c<d=\\(7)\")", "query \"a<b=\\(...)>/c<d=\\(...)\", column 23"),
        ("    _ = e.check(\"a{\\(value)}\")", "column 2"),
        ("    _ = try e.check(\"a<b=\\(try get())>|\")", "column 12"),
        ("    own(#\"x\\\"#)", "column"),
        ("    let list: [Query<Element>] = [\"a\", \"b#\"]; _ = list", "gives text, not Element"),
        ("    let bytes: Query<[UInt8]>? = \"a#|base64\"; _ = bytes", nil),
        ("    _ = e.check(\"a<b=%@><c=%d>\", value)", "takes 2 arguments, not 1"),
        ("    _ = e.find(\"a<b=%@>#\", value) as [String]", nil),
        ("    _ = e.find(\"a<b=%@>#\") as [String]", "takes 1 arguments, not 0"),
        ("    _ = e.withFirst(\"a<b=%@>#\") { $0.count }", "takes 1 arguments, not 0"),
        ("    #expect(e.check(\"in/a/macro/\"))", "column 12"),
        ("    let one: String = try #require(e.findFirst(\"required|int\")); _ = one", "column 9"),
        ("    _ = e.find(\"mine|\") as [Mine]", "column 5"),
        ("    _ = e.find(\"a//b#\") as [String]  // wrong on purpose", nil),
        ("    _ = \"a//b\"", nil),
        ("}", nil),
    ]

    @Test("a literal that does not compile, and a literal of the wrong type, are found at their places")
    func wrongLiterals() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "kalij-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "Fixture.swift").path
        try lines.map(\.code).joined(separator: "\n").write(toFile: file, atomically: true, encoding: .utf8)
        let literals = try QueryLiteral.all(in: SourceModule(folder: "Fixture", files: [file]))
        for (place, line) in lines.enumerated() {
            let problems = literals.filter { $0.line == place + 1 }.compactMap(\.problem)
            guard let expected = line.problem else {
                #expect(problems == [], "\(line.code)")
                continue
            }
            #expect(problems.count == 1 && problems[0].contains(expected), "\(line.code): \(problems)")
        }
        let column = literals.first { $0.pieces == ["a//b#"] }?.column
        #expect(column == 16)
    }

    @Test("a file that does not compile is no success")
    func brokenFile() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "kalij-\(UUID().uuidString).swift").path
        try "import KalijXML\nlet x: Query<Int> = 5\n".write(toFile: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: file) }
        #expect(throws: Compiler.Failure.self) {
            try QueryLiteral.all(in: SourceModule(folder: "Fixture", files: [file]))
        }
    }
}
