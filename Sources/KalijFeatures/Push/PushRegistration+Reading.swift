import KalijCore
import KalijStore

extension PushRegistration {
    /// The state and destination of pushes from the account's server; nil if push was never enabled. Never waits for a running
    /// process.
    /// - Throws: `StoreError`
    public static func load(of account: Account, from database: Database) throws -> PushRegistration? {
        try PushRow.load(account.id, from: database).map(PushRegistration.init)
    }
}
