import Foundation
import KalijStore
import TestSupport
import Testing

@testable import KalijPush

/// No decision may take longer because much is stored: every statement of the push server's database is a search by index.
struct PushPlanTests {
    /// Statements that walk on purpose: reading at the start and clearing up take a part at a time, in the order of an
    /// index.
    private static let exceptions: [String] = []

    @Test("no statement goes through all rows of a table that grows")
    func searches() throws {
        let scratch = try ScratchDirectory()
        let state = try PushDatabase(
            path: scratch.file("push.db"), seal: try Seal(secret: [UInt8](repeating: 5, count: 32)))
        let statements = try SQLStatement.all(in: "Sources/KalijPush")
        #expect(!statements.isEmpty)
        for statement in statements {
            guard let prepared = try? state.database.prepare("EXPLAIN QUERY PLAN " + statement.sql) else {
                Issue.record("\(statement.file): is no statement as it stands: \(statement.sql)")
                continue
            }
            let walks = statement.walks(
                try prepared.all { $0.text("detail") }, except: ["success", "position", "node"])
            if !walks.isEmpty, !Self.exceptions.contains(where: statement.sql.hasPrefix) {
                Issue.record("\(statement.file): \(statement.sql): \(walks)")
            }
        }
    }
}
