import KalijSteps

extension HistoryReader {
    /// What has become of the message that `account` accepted under the origin-id `id` (``Message/originID``); nil while it waits in
    /// the mailbox, or if there is none.
    public func sent(_ id: String, by account: Account) throws -> Message? {
        try Message.accepted(id, by: account, in: database)
    }
}
