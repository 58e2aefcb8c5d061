import KalijAddress
import KalijFeatures
import KalijSteps

extension HistoryReader {
    /// The result of a search.
    public struct Found: Sendable {
        /// The messages, oldest first.
        public let messages: [Message]
        /// How many older texts, at most, were not searched, because no driver has indexed them yet; 0 if all were searched.
        public let unsearched: Int64
    }

    /// The newest `limit` messages whose texts have all `words`, oldest first, in the order of ``messages(of:with:limit:)``.
    /// Waits for nobody, and keeps nobody waiting.
    /// - Parameters:
    ///   - words: the words.
    ///   - account: the account.
    ///   - conversation: only messages with this address; nil for all.
    ///   - after: only messages sent at this time or later; in milliseconds since 1970.
    ///   - before: only messages sent earlier.
    ///   - limit: the most messages.
    /// - Throws: `StoreError`
    public func search(
        _ words: SearchWords, of account: Account, with conversation: JID? = nil, after: Int64? = nil,
        before: Int64? = nil, limit: Int = 100
    ) throws -> Found {
        let (first, last) = (after ?? .min, before ?? .max)
        let rooms = RoomRows(database: database, account: account.id)
        let filter = Search.Filter(
            conversation: try conversation.map { try rooms.conversation(with: $0) }, times: first..<max(first, last))
        // A single read transaction, so that everything is of the same moment.
        return try database.reading {
            let (messages, unsearched) = try Search(database: database, account: account.id).newest(
                limit, with: words, filter, waiting: try waiting(of: account, with: conversation))
            return Found(messages: try quoting(messages, of: account), unsearched: unsearched)
        }
    }
}
