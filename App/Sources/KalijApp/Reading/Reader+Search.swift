import KalijAddress
import KalijClient

/// Messages that match a search, as rows of the list of conversations.
public struct SearchResults: Sendable {
    /// Newest first.
    public var rows: [ConversationRow]
    /// Where the next results begin; nil if there are none.
    public var older: SearchKey?

    public init(rows: [ConversationRow] = [], older: SearchKey? = nil) { (self.rows, self.older) = (rows, older) }

    /// The number of results that are read together.
    public static let step = 30
    /// Texts that the driver has not indexed yet: a tenth of a second.
    static let longestTail = 10_000
}

extension Reader {
    /// The messages of all accounts with words that begin with `words`.
    /// - Parameter place: where the results begin; nil for the newest.
    public func results(_ words: String, from place: SearchKey? = nil) throws -> SearchResults {
        guard let words = try? SearchWords(words) else { return SearchResults() }
        let accounts = try accounts()
        let page = try HistoryReader(database()).search(
            words, of: accounts, from: place, limit: SearchResults.step, longestTail: SearchResults.longestTail)
        var names: [ConversationKey: ConversationRow] = [:]
        let rows = try page.hits.compactMap { hit -> ConversationRow? in
            guard hit.message.id > 0, let account = accounts.first(where: { $0.id == hit.account }) else { return nil }
            let key = ConversationKey(account: account.jid.description, jid: hit.message.conversation)
            let head = try names[key] ?? conversation(key) ?? ConversationRow(key: key, name: key.jid.shownName)
            names[key] = head
            return ConversationRow(hit, in: head, try people(of: account))
        }
        return SearchResults(rows: rows, older: page.older)
    }
}

extension ConversationRow {
    /// A message that was found in the conversation `head`.
    init(_ hit: SearchPage.Hit, in head: ConversationRow, _ people: People) {
        self.init(key: head.key, name: head.name)
        (picture, isGroup, showsAccount) = (head.picture, head.isGroup, head.showsAccount)
        let message = MessageRow(hit.message, name: head.name, account: head.key.account, people: people)
        let text = hit.excerpt.text.shownLine
        preview = message.isOwn ? Words.own(text) : isGroup ? Words.said(message.author, text) : text
        (at, found) = (hit.message.sentAt, hit.message.id)
    }
}
