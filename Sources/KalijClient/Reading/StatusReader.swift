import KalijCore
import KalijFeatures
import KalijAddress
import KalijCoordination
import KalijStore

/// Reads the state of a directory; never waits for a running process.
public struct StatusReader {
    private let directory: AccountDirectory
    private let database: Database

    /// Reads `directory`, whose database is open.
    public init(_ directory: AccountDirectory, _ database: Database) {
        self.directory = directory
        self.database = database
    }

    /// The process that drives now; nil if none drives.
    public func driver() throws -> FenceOwner? { try Fence.current(in: database, lockPath: directory.lockPath) }

    /// The state of an account.
    public struct AccountStatus: Sendable {
        /// The account.
        public let account: Account
        /// The full address of the session, if there was one.
        public let boundJID: String?
        /// Whether the next connection can resume the session.
        public let isResumable: Bool
        /// When the last session was bound or resumed, in milliseconds since 1970.
        public let lastOnline: Int64?
        /// Whether the server sends carbons of the messages of the account's other clients in this session (XEP-0280).
        public let hasCarbons: Bool
        /// Whether the server archives the account's messages (XEP-0313).
        public let hasArchive: Bool
        /// The phase of catch-up: `before-presence`, `after-presence`, `done`; nil if it never started.
        public let catchUp: String?
        /// Why the archive was not read to its end; nil if it was, or is being read.
        public let catchUpProblem: String?
        /// The number of stored messages of the account.
        public let storedMessages: Int
        /// Messages accepted and not sent, including those in the mailbox.
        public let queuedMessages: Int
        /// Messages accepted by processes that do not drive, and not yet imported by a driver
        /// (``AccountDirectory/share(_:to:from:id:answering:privacy:endsDraft:clock:)``).
        public let messagesInMailbox: Int
        /// Messages sent and not acknowledged.
        public let sentMessages: Int
        /// Messages sent in a lost session, whose outcome is undetermined.
        public let unsettledMessages: Int
        /// Messages that were refused; the reason is stored with each.
        public let failedMessages: Int
        /// All stanzas in the queue, including requests of the engine.
        public let queuedStanzas: Int
        /// Pending notifications for the user.
        public let pendingNotifications: Int
        /// The gaps in the history.
        public let gaps: [HistoryGap]
        /// How the server was last reached; nil if never.
        public let link: LinkStatus?
        /// The fields that the features report (``Feature/status(of:in:)``).
        public let features: [EventField]
    }

    /// A kind of step that took over a second.
    public struct SlowStep: Sendable {
        /// The purpose of the steps.
        public let kind: String
        /// The number of slow steps.
        public let count: Int
        /// The duration of the slowest step, in milliseconds.
        public let longest: Int
    }

    /// The state of each account, in the order in which they were added.
    public func accounts() throws -> [AccountStatus] {
        let shared = try MailboxReader(directory.path)
        return try AccountTable(database).all().map {
            try status(of: $0, inMailbox: try shared.messages(of: $0, besides: database).count)
        }
    }

    /// The newest quarantined stanzas, newest first.
    public func quarantined() throws -> [Quarantine.Stanza] { try Quarantine(database).stanzas() }

    /// The newest handlers that could not be called, newest first.
    public func deadLetters() throws -> [DeadLetter] { try DeadLetters.newest(in: database) }

    /// The number of the last event; 0 if there is none (``EventLog/last``).
    public var lastEvent: Int64 { get throws { try EventLog(reading: database).last } }

    /// The kinds of steps with a step of more than a second.
    public func slowSteps() throws -> [SlowStep] {
        try StepRunner.slow(in: database).map { SlowStep(kind: $0.kind, count: $0.count, longest: $0.longest) }
    }

    private func status(of account: Account, inMailbox: Int) throws -> AccountStatus {
        let gaps = try HistoryReader(database).gaps(of: account)
        let counts = try MessageCounts(of: account.id, in: database)
        let session = try SessionStatus.load(account.id, from: database)
        let archive = try ArchiveStatus.all(of: account.id, in: database).first(where: \.archive.isOwn)
        return AccountStatus(
            account: account, boundJID: session.boundJID, isResumable: session.isResumable,
            lastOnline: session.lastOnline, hasCarbons: session.hasCarbons, hasArchive: session.hasArchive,
            catchUp: archive?.storedPhase, catchUpProblem: archive?.problem, storedMessages: session.storedMessages,
            queuedMessages: counts.queued + inMailbox, messagesInMailbox: inMailbox, sentMessages: counts.sent,
            unsettledMessages: counts.unsettled, failedMessages: counts.failed, queuedStanzas: session.queuedStanzas,
            pendingNotifications: try NotificationOutbox(database: database).pendingCount(of: account.id), gaps: gaps,
            link: try LinkStatus(account, database),
            features: try Features.own.flatMap { try $0.status(of: account, in: database) })
    }
}
