import FoundationEssentials
import KalijAddress
import KalijCoordination
import KalijCore
import KalijStore
import KalijText

/// What the driver of a directory reports to other processes, and no row of the database has.
///
/// ```swift
/// var reader = try HistoryReader(directory)
/// reader.report = DriverReport(of: directory)
/// ```
public struct DriverReport: Sendable {
    private var states: [ExactText: AccountState] = [:]
    private var transfers: [Transfer: Int64] = [:]

    private struct Transfer: Hashable {
        let account: ExactText
        let key: ExactText
    }

    /// An empty report, for ``apply(_:)``.
    public init() {}

    /// The present report; nil if no process drives `directory`, or the driver does not answer within a second.
    public init?(of directory: AccountDirectory) {
        guard let subscription = Doorbell.changes(directory: directory.path) else { return nil }
        let lines = subscription.first(within: 1).split(separator: 0x0A)
        guard !lines.isEmpty else { return nil }
        for line in lines {
            (try? JSONDecoder().decode(DirectoryChange.self, from: Data(line))).map { apply($0) }
        }
    }

    /// The present report, if messages of the accounts in `database` are queued, for what they wait for (``Message/waitsFor``); nil if
    /// none are, and as for ``init(of:)``.
    public init?(of directory: AccountDirectory, ifQueuedIn database: Database, by accounts: [Account]) throws {
        let isQueued = try accounts.contains { try MessageCounts(of: $0.id, in: database).queued > 0 }
        guard isQueued else { return nil }
        self.init(of: directory)
    }

    /// Includes a change that the driver has published (``DirectoryChanges``).
    public mutating func apply(_ change: DirectoryChange) {
        let account = change.account.exact
        switch change.kind {
        case .state:
            states[account] = change.value.flatMap { try? JSONDecoder().decode(AccountState.self, from: Data($0.utf8)) }
        case .transfer:
            transfers[Transfer(account: account, key: change.key.exact)] = change.value.flatMap { Int64($0) }
        case .conversation, .contact, .room, .request, .typing, .account: break
        }
    }

    /// The state of the account's connection; nil if it was not reported.
    public func state(of account: JID) -> AccountState? { states[account.bare.description.exact] }

    /// The bytes that were moved of a transfer in progress: of an upload by its id (``Attachments/Upload/id``), of a download by the row
    /// of its message (``Message/id``) in digits; nil if it is not in progress.
    public func bytes(of transfer: String, of account: JID) -> Int64? {
        transfers[Transfer(account: account.bare.description.exact, key: transfer.exact)]
    }
}
