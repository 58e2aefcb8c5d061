import Foundation

/// The SQL statements in Swift sources, as literals.
public struct SQLStatement: Sendable {
    /// The source's name.
    public let file: String
    /// On one line, with interpolated constants of the same file put in.
    public let sql: String

    /// All in the sources below `folder`, relative to the checkout.
    public static func all(in folder: String) throws -> [SQLStatement] {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent(folder)
        let files = FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil)?.allObjects ?? []
        return try files.compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }.flatMap { file in
            let source = try String(contentsOf: file, encoding: .utf8)
            return literals(source).filter(isStatement).map { literal in
                SQLStatement(file: file.lastPathComponent, sql: oneLine(constants(literal, source)))
            }
        }
    }

    private static func isStatement(_ literal: String) -> Bool {
        let start = literal.drop(while: \.isWhitespace)
        return ["SELECT ", "INSERT ", "UPDATE ", "DELETE FROM ", "REPLACE ", "WITH "].contains { start.hasPrefix($0) }
    }

    private static func literals(_ source: String) -> [String] {
        let pattern = #/"""\n(?<block>(?s:.)*?)\n *"""|"(?<line>(?:[^"\\\n]|\\.)*)"/#
        return source.split(separator: "\n", omittingEmptySubsequences: false)
            .filter { !$0.drop(while: \.isWhitespace).hasPrefix("//") }.joined(separator: "\n")
            .matches(of: pattern).compactMap { ($0.block ?? $0.line).map(String.init) }
    }

    /// Puts in the constants of the same file, such as shared columns.
    private static func constants(_ literal: String, _ source: String) -> String {
        literal.replacing(#/\\\(Self\.(\w+)\)/#) { match in
            let declaration = source.ranges(of: "static let \(match.1)").first.map { source[$0.upperBound...] }
            return declaration.flatMap { literals(String($0)).first } ?? String(match.0)
        }
    }

    private static func oneLine(_ sql: String) -> String {
        let lines = sql.split(separator: "\n").map { $0.split(separator: "-- ", omittingEmptySubsequences: false)[0] }
        return lines.joined(separator: " ").replacing("\\n", with: " ")
            .split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    // MARK: Plans

    /// The parts of a plan (`EXPLAIN QUERY PLAN`, the column `detail`) that go through all rows of a table, or through
    /// all rows of an account.
    /// - Parameter small: tables that do not grow with the stored data.
    public func walks(_ plan: [String], except small: Set<String>) -> [String] {
        plan.filter { step in
            guard let match = step.firstMatch(of: #/^(SCAN|SEARCH) (\w+)(.*)$/#) else { return false }
            let isWalk = match.1 == "SCAN" || match.3.contains(#/\((account|address)=\?\)/#)
            // Rows that the statement itself has: `SCAN CONSTANT ROW`, `SCAN 8 CONSTANT ROWS`.
            let isConstant = match.2 == "CONSTANT" || match.3.hasPrefix(" CONSTANT ROW")
            return isWalk && !small.contains(table(String(match.2))) && !isConstant
        }
    }

    /// The table behind a name in the plan.
    private func table(_ name: String) -> String {
        for match in sql.matches(of: #/(?:FROM|JOIN) (\w+) (?:AS )?(\w+)/#) where match.2 == name {
            return String(match.1)
        }
        return name
    }
}
