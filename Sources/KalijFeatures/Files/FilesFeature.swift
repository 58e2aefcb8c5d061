import KalijHandlers
import KalijCore
import KalijStore
import KalijStream

/// Files: uploaded through the server's upload service (XEP-0363), and downloaded from their addresses (XEP-0447, XEP-0066). The steps
/// are in `Sending` and `Receiving`; the service in `Transfer` moves the bytes.
enum FilesFeature: Feature, SessionObserver, AccountObserver, StoredMessageObserver, WorkReporter,
    ServiceProvider
{
    static let name = "files"
    static let announced = [SharedFile.sharing, "jabber:x:oob"]

    static let migrations = [
        Migration(
            "files/1",
            """
            -- Accepted files on their way to the server.
            CREATE TABLE upload(
                id INTEGER PRIMARY KEY,
                account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
                message_id TEXT NOT NULL,       -- of the message that will share the file; the intent's id, too
                recipient TEXT NOT NULL,
                file TEXT NOT NULL,             -- the name in files/out
                name TEXT NOT NULL,             -- for the recipient
                type TEXT NOT NULL,
                size INTEGER NOT NULL,          -- in bytes
                sha256 BLOB NOT NULL,
                width INTEGER,                  -- in pixels
                height INTEGER,
                text TEXT,                      -- follows the file
                text_id TEXT,
                privacy TEXT NOT NULL,
                key BLOB,                       -- nonce and key; NULL: not encrypted
                accepted_at INTEGER NOT NULL,   -- in milliseconds since 1970
                state TEXT NOT NULL,            -- see UploadPlan
                reason TEXT,
                not_before INTEGER NOT NULL DEFAULT 0,
                slot BLOB,                      -- as JSON
                asked_at INTEGER NOT NULL DEFAULT 0,
                failures INTEGER NOT NULL DEFAULT 0,
                looks INTEGER NOT NULL DEFAULT 0,
                refusals INTEGER NOT NULL DEFAULT 0,
                slots INTEGER NOT NULL DEFAULT 0,
                slots_since INTEGER NOT NULL DEFAULT 0);
            CREATE UNIQUE INDEX upload_message ON upload(account, message_id);
            CREATE INDEX upload_state ON upload(account, state, not_before);
            CREATE INDEX upload_file ON upload(file);
            -- The last known service for uploads.
            CREATE TABLE upload_service(
                account INTEGER PRIMARY KEY REFERENCES account(id) ON DELETE CASCADE,
                jid TEXT,                       -- NULL: none
                max_size INTEGER,               -- in bytes; NULL: the service does not say
                asking INTEGER NOT NULL,        -- how many answers are awaited
                asked_at INTEGER NOT NULL DEFAULT 0,    -- in milliseconds of the steady time
                found INTEGER NOT NULL,         -- whether a service has answered since
                host TEXT);                     -- of the last slot's addresses
            -- The files of messages.
            CREATE TABLE attachment(
                message INTEGER PRIMARY KEY REFERENCES message(id) ON DELETE CASCADE,
                account INTEGER NOT NULL,
                url TEXT NOT NULL,
                key BLOB,                       -- nonce and key; NULL: not encrypted
                name TEXT,                      -- as the sender says; so are the next
                type TEXT,
                size INTEGER,
                sha256 BLOB,
                width INTEGER,
                height INTEGER,
                state TEXT NOT NULL,            -- see MessageFile.State
                path TEXT,                      -- below the folder of files
                problem TEXT,
                not_before INTEGER NOT NULL DEFAULT 0,
                failures INTEGER NOT NULL DEFAULT 0,
                automatic INTEGER NOT NULL DEFAULT 0,
                validator TEXT,
                intent TEXT);
            CREATE INDEX attachment_wanted ON attachment(account, not_before, automatic) WHERE state = 'wanted';
            CREATE INDEX attachment_stored ON attachment(account, size) WHERE state = 'stored';
            CREATE INDEX attachment_path ON attachment(path) WHERE path IS NOT NULL;
            -- Files that no row needs any more, to be removed.
            CREATE TABLE file_garbage(id INTEGER PRIMARY KEY, name TEXT NOT NULL);
            """)
    ]

    static var handlers: [any Handler<Step>.Type] {
        [
            UploadServiceItemsResponse.self, UploadServiceInfoResponse.self, UploadSlotResponse.self,
            ClearDownloadsContinuation.self,
        ]
    }
    static var events: [any EventContent.Type] { [UploadChanged.self, DownloadChanged.self] }
    static var intents: [any Intent.Type] {
        [
            SendFile.self, CancelUpload.self, PauseUpload.self, RetryUpload.self, Download.self, CancelDownload.self,
            ClearDownloads.self,
        ]
    }

    static func handlerDeadLettered(_ letter: DeadLetter, in step: Step) throws {
        if letter.name == UploadSlotResponse.name { try Uploads(step: step).processBegan() }
    }

    static func status(of account: Account, in database: Database) throws -> [EventField] {
        let out = try UploadRows(database: database, account: account.id).stored()
        let stored = try ReceivedFileRows(database: database).stored(of: account.id)
        let numbers: [(EventKey, Int64)] = [
            (.uploads, out.count), (.uploadBytes, out.bytes), (.downloads, stored.count),
            (.downloadBytes, stored.bytes),
        ]
        return numbers.filter { $0.1 > 0 }.map { EventField($0.0, .integer($0.1)) }
    }

    // MARK: Sessions

    static func didBindSession(in step: Step) throws { try connected(step) }
    static func didResumeSession(in step: Step) throws { try connected(step) }

    private static func connected(_ step: Step) throws {
        guard try PendingFileWork.isAny(in: step.database) else { return }
        try Uploads(step: step).networkChanged()
        try ReceivedFiles(step: step).networkChanged()
    }

    static var worksInService: Bool { true }

    static func hasOutstandingWork(for account: Account, in database: Database) throws -> Bool {
        try UploadRows(database: database, account: account.id).hasOutstandingWork()
            || ReceivedFileRows(database: database).hasOutstandingWork(by: account.id)
    }

    static func didLogOut(in step: Step) throws {
        for row in try Uploads(step: step).rows.all() {
            try Intents(step: step).end(row.messageID, .failed("the account was logged out"))
        }
        try removeFiles(step)
        try ReceivedFiles(step: step).loggedOut()
    }

    static func willRemoveAccount(in step: Step) throws { try removeFiles(step) }

    private static func removeFiles(_ step: Step) throws {
        let rows = Uploads(step: step).rows
        for row in try rows.all() { try FileDeletionQueue.add("out/\(row.file)", in: step) }
        for file in try ReceivedFiles(step: step).rows.unnamed(of: step.account.id, limit: -1) {
            try FileDeletionQueue.add(file.name, in: step)
        }
        try rows.removeAll()
        try FileDeletionQueue.add("in/\(step.account.id)", in: step)
    }

    // MARK: Services

    // A process that a push has started only fetches messages, and is small: it never loads the code that transfers files.

    static func accountService(for host: any AccountServiceHost) -> (any FeatureService)? {
        environment(in: host).map { Transfers(host, $0) }
    }

    static func directoryService(for host: any ServiceHost) -> (any FeatureService)? {
        environment(in: host).map { _ in OrphanedFiles(host) }
    }

    private static func environment(in host: any ServiceHost) -> FileEnvironment? {
        [.main, .background].contains(host.role) ? host.resources[FileEnvironment.self] : nil
    }

    // MARK: Messages

    static func didInsert(_ message: inout Message, from incoming: IncomingMessage, in step: Step) throws {
        if let file = try ReceivedFiles(step: step).arrived(message, incoming) { message = message.with(file) }
    }

    static func didChangeState(_ message: Message, in step: Step) throws {
        if message.direction == .outgoing, message.isShown { try Uploads(step: step).stateChanged(message) }
    }

    static func didChangeBody(of row: Int64, from old: String?, to text: String?, in step: Step) throws {
        try ReceivedFiles(step: step).textChanged(of: row, from: old, to: text)
    }
}

extension Step {
    /// Notes that files may have to be moved or removed.
    func filesChanged() { signal(FilesFeature.self) }
}

extension EventKey {
    static let uploads = EventKey("uploads", "how many files are on their way to the server, or have failed")
    static let uploadBytes = EventKey("upload_bytes", "the bytes of the files on their way")
    static let downloads = EventKey("downloads", "how many received files are stored")
    static let downloadBytes = EventKey("download_bytes", "the bytes of the received files")
}
