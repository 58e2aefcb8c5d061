import KalijStore

/// The results of archives whose handling failed, by name, with the number of failures: a thrown error, or a crash of the process.
package struct FailedResults {
    private let database: Database
    private let account: Int64

    package init(database: Database, account: Int64) { (self.database, self.account) = (database, account) }

    /// At most so many are kept for an account; the oldest is removed first.
    private static let maxCount: Int64 = 100

    /// The failures of each result.
    package func all() throws -> [String: Int] {
        var all: [String: Int] = [:]  // characters: names of ASCII.
        let rows = try database.prepare("SELECT result, failures FROM failed_result WHERE account = ?")
            .all([.integer(account)]) { ($0.text(), Int($0.integer("failures"))) }
        for (result, failures) in rows { all[result] = failures }
        return all
    }

    /// Counts one failure more.
    /// - Returns: how often the result has failed by now.
    package func failed(_ result: String) throws -> Int {
        let failures = try database.prepare(
            """
            INSERT INTO failed_result SELECT id, ?2, 1 FROM account WHERE id = ?1
            ON CONFLICT (account, result) DO UPDATE SET failures = failures + 1 RETURNING failures
            """
        ).first([.integer(account), .text(result)]) { Int($0.integer()) }
        try database.run(
            """
            DELETE FROM failed_result WHERE account = ?1 AND rowid <=
                (SELECT rowid FROM failed_result WHERE account = ?1 ORDER BY rowid DESC LIMIT 1 OFFSET ?2)
            """, [.integer(account), .integer(Self.maxCount)])
        return failures ?? 1
    }

    /// The result was handled.
    package func handled(_ result: String) throws {
        try database.run(
            "DELETE FROM failed_result WHERE account = ? AND result = ?", [.integer(account), .text(result)])
    }
}
