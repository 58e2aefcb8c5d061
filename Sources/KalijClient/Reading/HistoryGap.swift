import KalijCore
import KalijFeatures
import KalijAddress
import KalijStore

/// A place in the history where messages are missing, or may be missing.
public struct HistoryGap: Sendable, Equatable {
    /// Why messages are missing.
    public enum Reason: Sendable, Equatable {
        /// The archive may have the messages, which were not fetched.
        case notFetched
        /// The archive no longer has the cursor, and no messages there.
        case lost
        /// The end of the archive is being read.
        case reading
        /// The end of the archive could not be read, for the given reason; live messages since then are stored.
        case unread(String)
    }

    /// The room with the archive; nil for the account's own archive.
    public var room: JID? { Archive(key: archive).recipient }
    /// The stamp of the message before the gap, in milliseconds since 1970; nil if there is none.
    public let after: Int64?
    /// The stamp of the message after the gap, in milliseconds since 1970; nil if the end of the gap is undetermined.
    public let before: Int64?
    /// Why messages are missing.
    public let reason: Reason

    /// Whether a backfill may fetch messages.
    public var isFillable: Bool { reason == .notFetched }

    let archive: String
    /// The gap is before the message with this position.
    let position: Int64
}

extension HistoryGap {
    /// The gap as seen from the conversation with `peer`, whose older history may have been read alone; nil if nothing is missing there.
    func moved(with peer: JID?, of account: Account, in database: Database) throws -> HistoryGap? {
        guard let peer, reason == .notFetched, after == nil, room == nil else { return self }
        let name = try RoomRows(database: database, account: account.id).conversation(with: peer)
        let history = try OlderHistory(of: name, account.id, in: database)
        if history.state == .complete { return nil }
        guard let first = history.first else { return self }
        return HistoryGap(after: nil, before: first.at, reason: reason, archive: archive, position: first.position)
    }
}

extension HistoryReader {
    /// The gaps in the history of an account, in order.
    public func gaps(of account: Account) throws -> [HistoryGap] { try gaps(of: account, in: nil) }

    /// The gaps in `archives`; nil for all.
    func gaps(of account: Account, in archives: [Archive]?) throws -> [HistoryGap] {
        let hasArchive = try SessionRow.load(account.id, from: database).archive
        var gaps: [HistoryGap] = []
        for status in try ArchiveStatus.all(of: account.id, in: database) where hasArchive || !status.archive.isOwn {
            guard archives?.contains(status.archive) ?? true else { continue }
            let archive = status.archive.key
            let ranges = try ArchiveRanges(database: database, account: account.id, archive: status.archive).all()
            gaps += Self.gaps(between: ranges, in: archive)
            let end = ranges.first
            if end == nil, status.since > 0 {
                gaps.append(
                    HistoryGap(after: nil, before: status.since, reason: .notFetched, archive: archive, position: .min))
            }
            if status.phase != .done || status.problem != nil {
                gaps.append(
                    HistoryGap(
                        after: end?.lastAt ?? status.since, before: nil,
                        reason: status.problem.map { .unread($0) } ?? .reading, archive: archive,
                        position: (end?.lastPosition ?? 0) + 1))
            }
        }
        return gaps.sorted { $0.position < $1.position }
    }

    private static func gaps(between ranges: [ArchiveRange], in archive: String) -> [HistoryGap] {
        zip(ranges, ranges.dropFirst().map { $0 } + [nil]).compactMap { range, older in
            // No messages are missing before the beginning of the archive.
            if range.isBottom, older == nil { return nil }
            return HistoryGap(
                after: older?.lastAt, before: range.firstAt, reason: range.isBottom ? .lost : .notFetched,
                archive: archive, position: range.firstPosition)
        }
    }

    /// The state of the last backfill (`Step.fetchHistory`).
    public struct Fetching: Sendable, Equatable {
        /// Whether the backfill has ended.
        public let isDone: Bool
        /// How many new messages the backfill has stored.
        public let messages: Int
        /// Why the backfill ended early.
        public let problem: String?
    }

    /// The state of the last backfill from the account's own archive; nil if there was none.
    public func fetching(of account: Account) throws -> Fetching? {
        try ArchiveStatus.fetching(of: account.id, in: database).map(Fetching.init)
    }

    /// The state of the last reading of older history with `peer` (`Step.fetchHistory(older:with:)`); nil if there was none.
    public func fetching(of account: Account, with peer: JID) throws -> Fetching? {
        let name = try RoomRows(database: database, account: account.id).conversation(with: peer)
        return try OlderHistory(of: name, account.id, in: database).fetching.map(Fetching.init)
    }
}

extension HistoryReader.Fetching {
    fileprivate init(_ messages: Int, _ outcome: String?) {
        self.init(isDone: outcome != nil, messages: messages, problem: outcome.flatMap { $0.isEmpty ? nil : $0 })
    }
}
