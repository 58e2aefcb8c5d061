import KalijSteps
import KalijFeatures
import KalijRoles
import KalijStore

extension SessionSteps {
    /// Tries the next stanza of the quarantine that is to be tried, in a step of its own; nil if there is none.
    func replayNext() throws -> Step.Effects? {
        let isWanted = try runner.database.statement(
            "SELECT 1 FROM quarantine INDEXED BY quarantine_retry WHERE account = ? AND retry = 'wanted' LIMIT 1"
        ).first([.integer(account.id)]) { _ in true }
        guard isWanted ?? false else { return nil }
        var row: Replay.Row?
        _ = try runner.run("replay", for: account) { row = try Replay(step: $0).begin() }
        guard let row else { return nil }
        do {
            return try runner.run("replay", for: account) { try Replay(step: $0).process(row) }
        } catch let error as StoreError where error.isMachineError {
            _ = try? runner.run("replay", for: account) { try Replay(step: $0).postpone(row) }
            throw error
        } catch let error as FenceError {
            throw error
        } catch {
            return try runner.run("replay", for: account) { step in
                try Replay(step: step).fail(row, "tried again: \(error)")
            }
        }
    }
}
