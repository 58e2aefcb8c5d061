import KalijStore

extension HistoryReader {
    /// What has become of the message that `account` accepted under the origin-id `id` (``Message/originID``); nil while it waits in
    /// the mailbox, or if there is none.
    public func sent(_ id: String, by account: Account) throws -> Message? {
        try database.prepare(
            """
            SELECT \(Message.columns) FROM message
            WHERE account = ? AND direction = 'out' AND origin_id = ? AND received_at IS NULL
            """
        ).first([.integer(account.id), .text(id)]) { Message($0) }
    }
}
