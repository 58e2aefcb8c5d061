import KalijAddress
import KalijFeatures
import KalijCore

extension HistoryReader {
    /// The result of a search.
    public struct Found: Sendable {
        /// The messages, oldest first.
        public let messages: [Message]
        /// The maximum number of older texts that were not searched, because no driver has indexed them yet; 0 if all were
        /// searched.
        public let unsearched: Int64
    }

    /// The newest `limit` messages whose texts contain all `words`, oldest first, in the order of ``messages(of:with:limit:)``.
    /// Waits for no process, and blocks none.
    /// - Parameters:
    ///   - words: the words.
    ///   - account: the account.
    ///   - conversation: only messages with this address; nil for all.
    ///   - after: only messages sent at this time or later; in milliseconds since 1970.
    ///   - before: only messages sent earlier.
    ///   - limit: the maximum number of messages.
    /// - Throws: `StoreError`
    public func search(
        _ words: SearchWords, of account: Account, with conversation: JID? = nil, after: Int64? = nil,
        before: Int64? = nil, limit: Int = 100
    ) throws -> Found {
        let (first, last) = (after ?? .min, before ?? .max)
        let rooms = RoomRows(database: database, account: account.id)
        let filter = Search.Filter(
            conversation: try conversation.map { try rooms.conversation(with: $0) }, times: first..<max(first, last))
        // A single read transaction, so that everything is from one snapshot.
        return try database.reading {
            let (messages, unsearched) = try Search(database: database, account: account.id).newest(
                limit, with: words, filter, waiting: try waiting(of: account, with: conversation))
            return Found(messages: try quoting(messages, of: account), unsearched: unsearched)
        }
    }
}
