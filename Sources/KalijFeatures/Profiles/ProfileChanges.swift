import KalijCore
import KalijStore

import FoundationEssentials

/// The user's changes of the account's own profile, applied one after the other: each consists of several requests, and the latest
/// change prevails.
struct ProfileChanges {
    let step: Step
    private var database: Database { step.database }
    private var account: Value { .integer(step.account.id) }

    /// The maximum number of waiting changes. Pictures are large, and nobody changes a profile faster than a server responds.
    private static let maxWaiting = 8

    /// Begins a change, unless another one is in progress.
    /// - Throws: `IntentFailure` if too many changes are waiting.
    func add(_ change: SetProfile, intent: String) throws -> IntentOutcome {
        let waiting = try waiting(most: Self.maxWaiting).count
        guard waiting < Self.maxWaiting else { throw IntentFailure("\(waiting) changes of the profile wait already") }
        try database.run(
            "INSERT INTO profile_change(account, intent, change) VALUES (?, ?, ?)",
            [account, .text(intent), .blob([UInt8](JSONEncoder().encode(change)))])
        guard waiting == 0 else { return .pending }
        let outcome = try PublishProfileRequest(intent: intent, change).begin(in: step)
        if outcome != .pending { try remove(intent) }
        return outcome
    }

    /// Ends a change, and begins the next one; only once for each change.
    func ended(_ intent: String) throws {
        guard try remove(intent) else { return }
        while let (next, change) = try waiting(most: 1).first {
            let outcome: IntentOutcome
            if let change = try? JSONDecoder().decode(SetProfile.self, from: Data(change)) {
                outcome = try PublishProfileRequest(intent: next, change).begin(in: step)
            } else {
                outcome = .failed("the change cannot be read any more")
            }
            if outcome == .pending { return }
            try remove(next)
            try Intents(step: step).end(next, outcome)
        }
    }

    /// Fails the present change if its handler can never be called.
    func lost() throws {
        guard let (intent, _) = try waiting(most: 1).first else { return }
        try Intents(step: step).end(intent, .failed("the answer of the server cannot be handled"))
        try ended(intent)
    }

    /// - Returns: false if the change was removed before.
    @discardableResult
    private func remove(_ intent: String) throws -> Bool {
        try database.run("DELETE FROM profile_change WHERE account = ? AND intent = ?", [account, .text(intent)])
        return database.changes > 0
    }

    private func waiting(most: Int) throws -> [(intent: String, change: [UInt8])] {
        try database.statement("SELECT intent, change FROM profile_change WHERE account = ? ORDER BY id LIMIT ?")
            .all([account, .integer(Int64(most))]) { ($0.text("intent"), $0.blob("change")) }
    }
}
