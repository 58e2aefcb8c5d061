import KalijStore
import KalijStream

/// Counts the attempts to handle a redelivered stanza. A stanza that kills the process each time is quarantined at the third attempt.
package struct Attempts {
    package let runner: StepRunner
    package let account: Account

    package init(runner: StepRunner, account: Account) {
        self.runner = runner
        self.account = account
    }

    /// The attempt at which a stanza is quarantined unprocessed.
    package static let last = 3

    /// Commits that the handling of a stanza begins; `count` is the handled count after the stanza.
    /// - Returns: the number of the attempt.
    package func begin(_ count: HandledCount) throws -> Int {
        var attempts = 0
        _ = try runner.run("attempt", for: account) { step in
            attempts = try SessionRow.beginAttempt(at: count, of: account.id, in: step.database)
        }
        return attempts
    }

    /// Counts a failure to handle the result `name` of an archive (``FailedResults``).
    /// - Returns: the number of failures.
    package func failed(_ name: String) throws -> Int {
        var failures = 0
        _ = try runner.run("attempt", for: account) { step in
            failures = try FailedResults(database: step.database, account: account.id).failed(name)
        }
        return failures
    }

    /// Reverts the last attempt, because an error of the machine caused the failure.
    /// - Returns: false if the machine did not allow the write either.
    package func revertLast() -> Bool {
        do {
            _ = try runner.run("attempt", for: account) { step in
                try SessionRow.revertAttempt(of: account.id, in: step.database)
            }
            return true
        } catch {
            return false
        }
    }
}
