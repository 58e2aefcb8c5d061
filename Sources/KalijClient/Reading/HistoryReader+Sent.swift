import KalijFeatures
import KalijCore

extension HistoryReader {
    /// The message that `account` accepted under the origin-id `id` (``Message/originID``), with its state; nil while the message
    /// is pending in the mailbox, or if there is none.
    public func sent(_ id: String, by account: Account) throws -> Message? {
        try Message.accepted(id, by: account, in: database)?.withFile(in: database)
    }

    /// Why an intent has failed; nil if it has not, or not yet.
    public func failure(of intent: String, by account: Account) throws -> Reason? {
        try Intents.failure(of: intent, by: account, in: database)
    }

    /// The outcome of an intent; nil while the intent is pending in the mailbox, or if there is none.
    public func outcome(of intent: String, by account: Account) throws -> IntentOutcome? {
        try Intents.outcome(of: intent, by: account, in: database)
    }
}
