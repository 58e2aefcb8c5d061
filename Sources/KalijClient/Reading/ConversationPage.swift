import KalijAddress
import KalijFeatures
import KalijCore

/// A part of a conversation, from a single snapshot.
public struct ConversationPage: Sendable, Equatable {
    /// The position of a page. Messages are identified by their rows (``Message/id``).
    public enum Place: Sendable, Equatable {
        /// The newest messages.
        case newest
        /// The newest messages before a message.
        case before(Int64)
        /// The oldest messages after a message.
        case after(Int64)
        /// A message, and the oldest messages after it.
        case from(Int64)
        /// A message, and up to the limit's number of messages before and after it.
        case around(Int64)
    }

    /// The messages, oldest first, those in the state `queued` with what they wait for (``Message/waitsFor``), and the gaps between them. A gap belongs to the page of the message that follows it, so that
    /// consecutive pages contain it once. At the newest end the messages in the mailbox follow, with negative ids.
    public let entries: [HistoryReader.Entry]
    /// The files on their way to the server, in the order of acceptance, those in the mailbox last. Their messages are not stored yet, and
    /// will follow the newest message; of a file that has failed, the message with its id (``Message/originID``) is stored.
    public let uploads: [Attachments.Upload]
    /// Whether there are stored messages before the page.
    public let hasOlder: Bool
    /// Whether there are stored messages after the page.
    public let hasNewer: Bool
    /// What precedes the oldest stored message; nil if that is not in the page, or the server has no archive.
    public let beginning: OlderHistory.State?

    /// The messages, without the gaps.
    public var messages: [Message] {
        entries.compactMap { if case .message(let message) = $0 { message } else { nil } }
    }
}

extension Conversations {
    /// A page of a conversation, with its gaps.
    ///
    /// ```swift
    /// let page = try conversations.page(with: JID("romeo@example.net"), limit: 30)
    /// if let first = page?.messages.first, page?.hasOlder ?? false {
    ///     let older = try conversations.page(with: JID("romeo@example.net"), at: .before(first.id), limit: 30)
    /// }
    /// ```
    /// - Parameters:
    ///   - jid: the address of the peer.
    ///   - place: the position of the page.
    ///   - limit: the maximum number of stored messages; around a message, on each side.
    ///   - mailbox: the directory whose mailbox is read, too, if the page includes the newest message: while another process
    ///     drives, messages accepted by this one are pending there. The newest `limit` pending messages are added to the stored
    ///     ones.
    /// - Returns: nil if the place is not a displayed message of the conversation.
    /// - Throws: `StoreError`
    public func page(
        with jid: JID, at place: ConversationPage.Place = .newest, limit: Int, mailbox: AccountDirectory? = nil
    ) throws -> ConversationPage? {
        let limit = min(max(limit, 0), 1_000_000_000)
        let shared = try mailbox.map { try MailboxReader($0.path) }
        var reader = HistoryReader(database, shared: shared)
        reader.report = self.reader.report
        return try database.reading {
            guard let part = try part(of: name(jid), at: place, limit) else { return nil }
            let waiting = part.hasNewer ? [] : try reader.waiting(of: account, with: jid).suffix(limit)
            let entries = try reader.entries(part, waiting: Array(waiting), of: account, with: jid)
            return ConversationPage(
                entries: entries, uploads: try uploads(with: jid, shared), hasOlder: part.older != nil,
                hasNewer: part.hasNewer,
                beginning: part.older != nil
                    ? nil : try OlderHistory(of: name(jid), account.id, in: database).state)
        }
    }

    private func uploads(with jid: JID, _ mailbox: MailboxReader?) throws -> [Attachments.Upload] {
        let directory = FileFolders(beside: database).directory
        let uploads = try Attachments.Upload.all(of: account, in: database, and: mailbox, directory)
        guard !uploads.isEmpty else { return [] }
        let name = try name(jid)
        return try uploads.filter { try $0.state != "done" && self.name($0.to).exact == name.exact }
    }

    private func part(of name: String, at place: ConversationPage.Place, _ limit: Int) throws -> HistoryPart? {
        switch place {
        case .newest:
            return .newest(try messages.page(limit + 1, with: name, before: .max), limit)
        case .before(let id):
            guard let anchor = try anchor(id, in: name) else { return nil }
            var part = HistoryPart.newest(try messages.page(limit + 1, with: name, before: anchor.position), limit)
            part.hasNewer = true
            return part
        case .after(let id):
            guard let anchor = try anchor(id, in: name) else { return nil }
            let rows = try messages.page(limit + 1, with: name, after: anchor.position)
            return HistoryPart(Array(rows.prefix(limit)), older: anchor.position, hasNewer: rows.count > limit)
        case .from(let id):
            guard let anchor = try anchor(id, in: name) else { return nil }
            let rows = [anchor] + (try messages.page(limit, with: name, after: anchor.position))
            let older = try messages.page(1, with: name, before: anchor.position).last
            return HistoryPart(Array(rows.prefix(limit)), older: older?.position, hasNewer: rows.count > limit)
        case .around(let id):
            guard let anchor = try anchor(id, in: name) else { return nil }
            var part = HistoryPart.newest(try messages.page(limit + 1, with: name, before: anchor.position), limit)
            let rows = try messages.page(limit + 1, with: name, after: anchor.position)
            part.messages += [anchor] + rows.prefix(limit)
            part.hasNewer = rows.count > limit
            return part
        }
    }

    /// The message in row `id`; nil if the conversation does not display it.
    private func anchor(_ id: Int64, in name: String) throws -> MessageReader.Placed? {
        guard let message = try messages.message(id), message.isShown, message.conversation.exact == name.exact,
            let place = try messages.place(of: id)
        else { return nil }
        return (message, place.position)
    }
}

/// Consecutive messages, before their reactions, files and quotations are read.
struct HistoryPart {
    var messages: [MessageReader.Placed]
    /// The position of the message before; nil if there is none.
    let older: Int64?
    /// Whether there are messages after these.
    var hasNewer: Bool

    init(_ messages: [MessageReader.Placed], older: Int64?, hasNewer: Bool) {
        (self.messages, self.older, self.hasNewer) = (messages, older, hasNewer)
    }

    /// The newest `limit` of `messages`; one more message indicates that there are older ones.
    static func newest(_ messages: [MessageReader.Placed], _ limit: Int) -> HistoryPart {
        // characters: messages.
        let shown = messages.suffix(limit)
        let older = messages.dropLast(shown.count).last?.position
        return HistoryPart(Array(shown), older: older, hasNewer: false)
    }

    /// Whether the gap is before one of these messages and after those before, or at the end.
    func holds(_ gap: HistoryGap) -> Bool {
        if let older, gap.position <= older { return false }
        guard hasNewer else { return true }
        return messages.last.map { gap.position <= $0.position } ?? false
    }
}
