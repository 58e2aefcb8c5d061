import Glibc
import KalijAddress
import KalijFeatures
import KalijFiles
import KalijCore
import KalijStore
import KalijText

import FoundationEssentials

/// The files of an account: accepts files for sending, lists and cancels uploads, and downloads received files. Any process may
/// use it, without a network; the driving process (`main` or `background`) transfers the bytes.
///
/// ```swift
/// let attachments = Attachments(directory)
/// let upload = try attachments.send("balcony.jpg", to: JID("romeo@example.net"))
/// ```
public struct Attachments: Sendable {
    private let directory: AccountDirectory
    private let account: JID?

    /// - Parameters:
    ///   - account: the account; nil selects the only account.
    ///   - directory: the accounts' directory.
    public init(_ directory: AccountDirectory, of account: JID? = nil) {
        (self.directory, self.account) = (directory, account)
    }

    // MARK: Sending

    /// Accepts a file. When this function returns, a copy of the file is on the disk. Its message is sent exactly once, or is
    /// reported as failed with the reason, whichever process terminates. The file at `path` may be changed or removed afterwards.
    ///
    /// EXIF, XMP and comments are removed from JPEG, PNG and WebP files, except the orientation and the colour profile. No
    /// picture is decoded.
    ///
    /// - Parameters:
    ///   - path: a regular file, or a symbolic link to one; at least one byte.
    ///   - recipient: the recipient, or a room.
    ///   - text: a text message that follows the file.
    ///   - id: the id of the message, its origin-id (XEP-0359); nil generates one. A file already accepted under this id is not
    ///     sent again.
    ///   - keepingMetadata: whether to keep the metadata.
    ///   - privacy: whether to encrypt the file.
    ///   - endsDraft: whether the text was the conversation's draft. The draft is removed when the file is imported.
    ///   - clock: the source of time.
    /// - Throws: `FileError` if the file cannot be accepted: it is missing, not regular, empty or larger than the server's last
    ///   advertised limit, it changed during the copy, its metadata cannot be removed because the picture is damaged, or less
    ///   than 64 MiB of the disk would remain. `AcceptError` for the text or the id; `DirectoryError` if the account is missing
    ///   or ambiguous; `StoreError`. In each case nothing was accepted.
    @discardableResult
    public func send(
        _ path: String, to recipient: JID, text: String? = nil, id: String? = nil, keepingMetadata: Bool = false,
        privacy: EncryptionPreference = .asConversation, endsDraft: Bool = false, clock: Clock = .system
    ) throws -> Upload {
        let database = try directory.read()
        let account = try AccountTable(database).account(account, in: directory)
        let message = try OutgoingID(id).text
        if id != nil, let known = try known(message, of: account, in: database) { return known }
        if let text { _ = try OutgoingText(text, to: recipient) }
        let privacy = try EncryptionState.privacy(privacy, to: recipient, of: account, in: database)
        let accepted = try accept(path, account, keepingMetadata, privacy, database)
        // The copy is locked until the mailbox entry is on the disk, so that no orphan sweep removes it.
        defer { accepted.release() }
        let description = FileDescription(
            name: accepted.name, type: accepted.mediaType, size: accepted.size, sha256: accepted.sha256,
            width: accepted.width.map { Int64($0) }, height: accepted.height.map { Int64($0) })
        let intent = SendFile(
            to: recipient, file: accepted.id, description, text: text,
            textID: text.map { _ in UUID().uuidString.lowercased() }, privacy: privacy, endsDraft: endsDraft)
        do {
            try directory.share(intent, for: account.jid, id: message, clock: clock)
        } catch {
            accepted.discard()
            throw error
        }
        return Upload((message, intent, clock.now()), account, in: directory.path)
    }

    private func accept(
        _ path: String, _ account: Account, _ keepingMetadata: Bool, _ privacy: EncryptionPreference,
        _ database: Database
    ) throws -> AcceptedFile {
        let folders = FileFolders(directory.path)
        guard mkdir(folders.root, 0o700) == 0 || errno == EEXIST else {
            throw FileError(.inputOutput, "the folder of files cannot be made: \(String(cString: strerror(errno)))")
        }
        var limit: Int64?
        if let service = try UploadServices.last(of: account.id, in: database) {
            limit = service.limit.map { privacy == .encrypted ? max(0, $0 - 16) : $0 }
        }
        return try FileAcceptance.accept(
            path, as: UUID().uuidString.lowercased(), in: folders.out, keepingMetadata: keepingMetadata, limit: limit)
    }

    /// The upload or the message that was already accepted under `id`.
    private func known(_ id: String, of account: Account, in database: Database) throws -> Upload? {
        if let row = try UploadRows(database: database, account: account.id).row(for: id) {
            return Upload(row, account, in: directory.path)
        }
        if let parcel = try MailboxReader(directory.path).files(of: account, besides: database).first(where: {
            $0.id.exact == id.exact
        }) {
            return Upload(parcel, account, in: directory.path)
        }
        guard let message = try Message.accepted(id, by: account, in: database) else { return nil }
        let file = try message.withFile(in: database).file
        return Upload(
            id: id, from: account.jid, to: .received(message.to), name: file?.name ?? "", type: file?.type ?? "",
            size: file?.size ?? 0, state: "done", reason: message.error?.description,
            isEncrypted: file?.isEncrypted ?? false, acceptedAt: message.sentAt)
    }

    /// The pending uploads, those in the mailbox last. An upload is no longer listed once the server has its message.
    /// - Parameter report: the driver's report, for ``Upload/bytes``.
    /// - Throws: `DirectoryError`, `StoreError`
    public func uploads(report: DriverReport? = nil) throws -> [Upload] {
        // The mailbox is read before the database: an entry imported in between then appears in both, and never in neither.
        let mailbox = try MailboxReader(directory.path)
        let database = try directory.read()
        let account = try AccountTable(database).account(account, in: directory)
        return try Upload.all(of: account, in: database, and: mailbox, directory.path).map { $0.reported(report) }
    }

    /// Cancels a file whose message is not queued yet, or discards a file that has failed.
    /// - Returns: the id of the intent, for ``HistoryReader/outcome(of:by:)``.
    @discardableResult
    public func cancel(_ upload: String) throws -> String { try directory.share(CancelUpload(upload), for: account) }

    /// Pauses a file until ``retry(_:)``.
    /// - Returns: the id of the intent, for ``HistoryReader/outcome(of:by:)``.
    @discardableResult
    public func pause(_ upload: String) throws -> String { try directory.share(PauseUpload(upload), for: account) }

    /// Retries a file that has failed, is waiting or is paused, without delay.
    /// - Returns: the id of the intent, for ``HistoryReader/outcome(of:by:)``.
    @discardableResult
    public func retry(_ upload: String) throws -> String { try directory.share(RetryUpload(upload), for: account) }

    // MARK: Receiving

    /// Downloads the file of a message.
    /// - Returns: the id of the intent, for ``HistoryReader/outcome(of:by:)``. After success ``file(of:)`` returns the path.
    @discardableResult
    public func download(_ message: MessageReference) throws -> String {
        try directory.share(Download(message), for: account)
    }

    /// The received files that are stored, and their bytes; at most 10,000 files are counted. ``ClearDownloads`` removes them.
    public func stored() throws -> (count: Int64, bytes: Int64) {
        let database = try directory.read()
        let account = try AccountTable(database).account(account, in: directory)
        return try ReceivedFileRows(database: database).stored(of: account.id)
    }

    /// The file that a message shares, with the message's row; nil if there is no such message or it shares no file.
    public func file(of message: MessageReference) throws -> (message: Int64, file: MessageFile)? {
        let database = try directory.read()
        let account = try AccountTable(database).account(account, in: directory)
        guard let found = try message.found(by: account, in: database),
            let file = try found.withFile(in: database).file
        else { return nil }
        return (found.id, file)
    }
}
