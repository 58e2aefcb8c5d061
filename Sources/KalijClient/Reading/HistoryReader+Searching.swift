import KalijAddress
import KalijCore
import KalijFeatures

/// A page of the results of a search.
public struct SearchPage: Sendable {
    /// A message with all words.
    public struct Hit: Sendable {
        /// The row of the message's account (``Account/id``).
        public let account: Int64
        /// The message as it is displayed.
        public let message: Message
        /// Where the words are in the message's text.
        public let excerpt: SearchExcerpt
    }

    /// The messages, newest first.
    public let hits: [Hit]
    /// Where the next page begins; nil if there is none. A page may have fewer messages than requested, or none, before the last.
    public let older: SearchKey?
    /// The maximum number of older texts that were not searched, because no driver has indexed them yet; 0 if all were searched.
    public let unsearched: Int64
}

extension HistoryReader {
    /// The newest `limit` messages whose texts have words that begin with each of `words`, newest first. Takes milliseconds, however many
    /// messages are stored. Waits for no process, and blocks none.
    ///
    /// ```swift
    /// var page = try reader.search(SearchWords("holi"), of: accounts, limit: 30)
    /// while let older = page.older {
    ///     page = try reader.search(SearchWords("holi"), of: accounts, from: older, limit: 30)
    /// }
    /// ```
    /// - Parameters:
    ///   - words: the words.
    ///   - accounts: the accounts; nil for all.
    ///   - conversation: only messages with this address; nil for all.
    ///   - after: only messages sent at this time or later; in milliseconds since 1970.
    ///   - before: only messages sent earlier.
    ///   - place: the end of the page before (``SearchPage/older``); nil for the newest messages.
    ///   - limit: the maximum number of messages.
    ///   - longestTail: the maximum number of searched texts that are not indexed yet; 50,000 take about half a second.
    /// - Throws: `StoreError`
    public func search(
        _ words: SearchWords, of accounts: [Account]? = nil, with conversation: JID? = nil, after: Int64? = nil,
        before: Int64? = nil, from place: SearchKey? = nil, limit: Int = 100, longestTail: Int = 50_000
    ) throws -> SearchPage {
        // A single read transaction, so that everything is from one snapshot.
        try database.reading {
            let stored = try AccountTable(database).all()
            let times = (after ?? .min)..<max(after ?? .min, before ?? .max)
            let search = Search(
                words, in: try scope(accounts, conversation, stored), times: times, database: database,
                longestTail: longestTail)
            let waiting = try (accounts ?? stored).flatMap { account in
                try self.waiting(of: account, with: conversation).map { (account: account, message: $0) }
            }
            let tail = try search.unindexed(with: waiting.map(\.message))
            // Mailbox messages are the newest.
            let shared = waiting.filter { tail.rows.contains($0.message.id) && times.contains($0.message.sentAt) }
                .reversed().prefix(place == nil ? limit : 0)
            let page = try search.page(limit - shared.count, before: place, tail: tail.rows.filter { $0 > 0 })
            let all = Dictionary(stored.map { ($0.id, $0) }) { first, _ in first }
            let found: [(account: Account, message: Message)] = try page.matches.compactMap { match in
                guard let account = all[match.place.account],
                    let message = try MessageReader(database: database, account: account.id).message(match.place.row)
                else { return nil }
                return (account, try view(message, of: account))
            }
            return SearchPage(
                hits: try hits(Array(shared) + found, words), older: page.older, unsearched: tail.unsearched)
        }
    }

    /// The place of the message with the row `id` among the results of a search; nil if the message is not shown.
    /// - Throws: `StoreError`
    public func searchPlace(of id: Int64) throws -> SearchKey? { try Search.key(of: id, in: database) }

    private func scope(_ accounts: [Account]?, _ conversation: JID?, _ stored: [Account]) throws -> SearchScope {
        if let conversation {
            return .conversations(
                try (accounts ?? stored).map { account in
                    let rooms = RoomRows(database: database, account: account.id)
                    return (account.id, try rooms.conversation(with: conversation))
                })
        }
        guard let accounts, accounts.count < stored.count else { return .everything }
        return .accounts(accounts.map(\.id))
    }

    private func hits(_ found: [(account: Account, message: Message)], _ words: SearchWords) throws -> [SearchPage.Hit]
    {
        let excerpts = try SearchExcerpt.all(of: found.map { $0.message.body ?? "" }, words, in: database)
        return try zip(found, excerpts).map { found, excerpt in
            let waiting = try waiting([found.message], of: found.account)
            let message = try quoting(waiting, of: found.account).first ?? found.message
            return SearchPage.Hit(account: found.account.id, message: message, excerpt: excerpt)
        }
    }
}
