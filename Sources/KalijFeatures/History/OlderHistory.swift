import KalijCore
import KalijStore

/// What precedes the oldest stored message of a conversation.
public struct OlderHistory: Sendable {
    /// What the archive has before the oldest stored message.
    public enum State: Sendable, Equatable {
        /// The archive may have older messages.
        case available
        /// Older messages are being read.
        case reading
        /// The last reading has ended early, for the given reason.
        case failed(String)
        /// The archive has no older messages: the conversation begins here.
        case complete
    }

    /// Nil if there is no archive.
    package let state: State?
    /// The first message that was read for the conversation alone; nil if there is none.
    package let first: (position: Int64, at: Int64?)?
    /// The last request: how many messages it has stored, and its outcome.
    package let fetching: (messages: Int, outcome: String?)?

    /// - Parameter conversation: the name of the conversation (`Message.conversation`).
    package init(of conversation: String, _ account: Int64, in database: Database) throws {
        let (room, statuses) = (Archive(key: conversation), try ArchiveStatus.all(of: account, in: database))
        if let status = statuses.first(where: { $0.archive == room }) {
            let filling = try ArchiveStatus.fetching(of: account, room, in: database)
            let ranges = ArchiveRanges(database: database, account: account, archive: room)
            let isComplete = try Self.isAtBeginning(ranges, status)
            (state, first, fetching) = (Self.state(isComplete, filling?.outcome, filling != nil), nil, filling)
            return
        }
        let row = try ConversationHistoryRow.load(conversation, of: account, from: database)
        fetching = row.map { (Int($0.stored), $0.outcome) }
        first = row.flatMap { $0.position < ConversationHistory.end ? ($0.position, $0.firstAt) : nil }
        guard try SessionRow.load(account, from: database).archive,
            let status = statuses.first(where: { $0.archive.isOwn })
        else {
            state = nil
            return
        }
        let ranges = ArchiveRanges(database: database, account: account, archive: .own)
        let isComplete = try row?.isComplete ?? false || Self.isAtBeginning(ranges, status)
        state = Self.state(isComplete, row?.outcome, row != nil)
    }

    private static func isAtBeginning(_ ranges: ArchiveRanges, _ status: ArchiveStatus) throws -> Bool {
        try ranges.all().last?.isBottom ?? (status.since == 0)
    }

    private static func state(_ isComplete: Bool, _ outcome: String?, _ isRequested: Bool) -> State {
        if isComplete { return .complete }
        guard isRequested else { return .available }
        guard let outcome else { return .reading }
        return outcome.isEmpty ? .available : .failed(outcome)
    }
}
