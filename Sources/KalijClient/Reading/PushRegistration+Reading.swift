import KalijFeatures
import KalijSteps
import KalijStore

extension PushRegistration {
    /// Whether the account's server pushes, and where to; nil if push was never enabled. Reads; never waits for a
    /// running process.
    /// - Throws: `StoreError`
    public static func load(of account: Account, from database: Database) throws -> PushRegistration? {
        try PushRow.load(account.id, from: database).map(PushRegistration.init)
    }
}
