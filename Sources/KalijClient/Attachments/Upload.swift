import KalijAddress
import KalijCore
import KalijFeatures
import KalijStore
import KalijText

extension Attachments {
    /// A file that was accepted for sending.
    public struct Upload: Sendable, Equatable {
        /// The id of the message that will share the file (its origin-id), and of the intent. ``HistoryReader/outcome(of:by:)``
        /// returns the outcome, ``HistoryReader/sent(_:by:)`` the message once it is queued or has failed.
        public let id: String
        /// The account.
        public let from: JID
        /// The recipient.
        public let to: JID
        /// The file name that the recipient sees.
        public let name: String
        /// The media type.
        public let type: String
        /// The size in bytes.
        public let size: Int64
        /// The bytes that the driver has sent (``DriverReport``); nil if no transfer is in progress, or nothing was reported.
        public private(set) var bytes: Int64?
        /// In pixels; nil if the file is no picture.
        public private(set) var width: Int64?
        /// In pixels; nil if the file is no picture.
        public private(set) var height: Int64?
        /// `mailbox` until a process drives; then `waiting`, `asking` (for a slot), `putting`, `sealed`, `done`, or `failed`.
        public let state: String
        /// Why the file is waiting or has failed; nil otherwise.
        public let reason: String?
        /// Whether the server stores the file encrypted.
        public let isEncrypted: Bool
        /// When the file was accepted, in milliseconds since 1970.
        public let acceptedAt: Int64
        /// The text that follows the file.
        public private(set) var text: String?
        /// The path of the accepted copy; nil if the upload has ended.
        public private(set) var path: String?

        /// The upload with the bytes in the driver's report, its encryption's tag not counted.
        func reported(_ report: DriverReport?) -> Upload {
            var upload = self
            upload.bytes = report?.bytes(of: id, of: from).map { min($0, size) }
            return upload
        }

        /// Whether the user has paused the upload.
        public var isPaused: Bool { state == "waiting" && reason?.begins(with: "paused") ?? false }
    }
}

extension Attachments.Upload {
    /// The pending uploads of an account, those in the mailbox last.
    /// - Parameters:
    ///   - database: read after `mailbox`.
    ///   - directory: the path of the accounts' directory.
    static func all(
        of account: Account, in database: Database, and mailbox: MailboxReader?, _ directory: String
    ) throws -> [Attachments.Upload] {
        let rows = try UploadRows(database: database, account: account.id).all()
        let ids = Set(rows.map(\.messageID))
        let waiting = try mailbox?.files(of: account, besides: database).filter { !ids.contains($0.id) } ?? []
        return rows.map { Self($0, account, in: directory) } + waiting.map { Self($0, account, in: directory) }
    }

    init(_ row: UploadRow, _ account: Account, in directory: String) {
        self.init(
            id: row.messageID, from: account.jid, to: row.recipient, name: row.description.name ?? "",
            type: row.description.type ?? "", size: row.description.size ?? 0, state: row.plan.stage.rawValue,
            reason: row.plan.reason, isEncrypted: row.key != nil, acceptedAt: row.acceptedAt)
        (width, height, text) = (row.description.width, row.description.height, row.text)
        path = FileFolders(directory).accepted(row.file)
    }

    init(_ entry: (id: String, file: SendFile, at: Int64), _ account: Account, in directory: String) {
        let file = entry.file
        self.init(
            id: entry.id, from: account.jid, to: .received(file.to), name: file.name, type: file.type, size: file.size,
            state: "mailbox", reason: nil, isEncrypted: file.privacy == .encrypted, acceptedAt: entry.at)
        (width, height, text) = (file.width, file.height, file.text)
        path = FileFolders(directory).accepted(file.file)
    }
}
